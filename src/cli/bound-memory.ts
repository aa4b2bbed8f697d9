/** Saves memory in a server that runs for months. */
import { registerHooks } from "node:module";
import { setFlagsFromString } from "node:v8";

/** Call this before loading anything large. */
export function boundMemory(): void {
  boundYoungGeneration();
  leaveOutTranslations();
}

/**
 * V8 lets the young generation grow to 64 MB under load and never shrinks it. A small one is enough, at the price of
 * slightly more frequent collections.
 */
function boundYoungGeneration(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** zod ships its messages in sixty languages, one file each. We only use English, which it loads anyway. */
function leaveOutTranslations(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const isLeftOut = specifier === "../locales/index.js" && context.parentURL?.includes("/zod/");
      if (isLeftOut !== true) return next(specifier, context);
      return { url: "data:text/javascript,export{}", format: "module", shortCircuit: true };
    },
  });
}
