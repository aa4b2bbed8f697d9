import type { Extras } from "../../model/extras.ts";
import type { RichText } from "../../model/rich-text.ts";
import type { Wire } from "./wire.ts";

export function* renderTelegram({ text }: RichText, extras: Extras): Generator<string> {
  for (let at = 0; at < text.length; at += 4_096) {
    const wire: Wire = {
      method: "sendMessage",
      params: { text: text.slice(at, at + 4_096), ...keyboardOf(at + 4_096 >= text.length, extras) },
    };
    yield JSON.stringify(wire);
  }
}

function keyboardOf(isLast: boolean, { buttons = [] }: Extras): object {
  if (!isLast || buttons.length === 0) return {};
  return {
    reply_markup: {
      inline_keyboard: [buttons.map(({ label, data }) => ({ text: label, callback_data: data }))],
    },
  };
}
