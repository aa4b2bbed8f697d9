/** What a server that runs for months does without. */
import { registerHooks } from "node:module";
import { setFlagsFromString } from "node:v8";

/** To be called before anything large is loaded. */
export function boundMemory(): void {
  boundYoungGeneration();
  leaveOutTranslations();
}

/**
 * V8 lets the space for young objects grow to 64 MB under load and gives none of it back. A small one is enough, at the
 * price of collecting it a little more often.
 */
function boundYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** zod brings its messages in sixty languages, a file each. English, which is all that we use, it loads by itself. */
function leaveOutTranslations(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isLeftOut = specifier === "../locales/index.js" && context.parentURL?.includes("/zod/");
      if (isLeftOut !== true) return next(specifier, context);
      return { url: "data:text/javascript,export{}", format: "module", shortCircuit: true };
    },
  });
}
