/** What a person sees in a browser: that it works, and where to read on. */
export const WELCOME = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cortex</title></head>
<body>
<h1>Cortex is up</h1>
<p>Talk to it with <code>cortex chat</code> or <code>cortex send</code>.</p>
<p>Programs use the API: <code>docs/http-api.md</code> describes it, and <a href="/api/openapi.json">so does
OpenAPI</a> once this browser is logged in by the link that <code>cortex up</code> printed.</p>
</body>
</html>
`;

/** Nothing is loaded from elsewhere, nothing is run that is not a file of ours, nobody frames it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": CONTENT_SECURITY_POLICY,
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cache-Control": "no-store",
};

/** What every response carries, whatever it is. */
export function secure(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  return response;
}
