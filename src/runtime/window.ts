import type { Profile } from "../model/profile.ts";

/** How many tokens the model of a profile takes. Undefined: nobody knows, or the profile lacks something. */
export async function windowOf(profile: Profile): Promise<number | undefined> {
  try {
    switch (profile.backend) {
      case "pi":
        return await (await import("../agents/pi/provider.ts")).modelWindow(profile);
      case "offline":
        return (await import("../agents/offline/offline-model.ts")).offlineWindow(profile);
    }
  } catch {
    return undefined; // whoever asks the model is told what is wrong with the profile
  }
}
