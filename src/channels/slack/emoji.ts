/** Slack has names for emoji. These are the ones that people react with most; all others keep their name. */
const NAMES = `
  👍 +1 👎 -1 ❤️ heart 😂 joy 🎉 tada 👀 eyes 🙏 pray 👏 clap 🔥 fire 🚀 rocket ✅ white_check_mark ❌ x 💯 100 🤔 thinking_face
  😄 smile 😀 grinning 😊 blush 😢 cry 😭 sob 😡 rage 😍 heart_eyes 🙌 raised_hands 👌 ok_hand 💪 muscle 🤝 handshake
  ⚠️ warning ❓ question ❗ exclamation ⏳ hourglass_flowing_sand ⭐ star ✨ sparkles 💡 bulb 🐛 bug 🛑 octagonal_sign
  ✔️ heavy_check_mark ➕ heavy_plus_sign 🆗 ok 👋 wave 🤖 robot_face 🫡 saluting_face 😅 sweat_smile 🤷 shrug`;

const PAIRS = NAMES.trim()
  .split(/\s+/)
  .flatMap((emoji, index, all) => (index % 2 === 0 ? [[emoji, all[index + 1]!] as const] : []));
const NAME_OF = new Map(PAIRS.map(([emoji, name]) => [withoutVariation(emoji), name]));
const EMOJI_OF = new Map(PAIRS.map(([emoji, name]) => [name, emoji]));

/** Of an emoji without a name here: the emoji, which Slack refuses. */
export function emojiName(emoji: string): string {
  return NAME_OF.get(withoutVariation(emoji)) ?? emoji.replaceAll(":", "");
}

/** `thumbsup` is another name of `+1`. A skin tone follows after two colons. */
export function emojiOf(name: string): string {
  const [plain = ""] = name.split("::");
  return EMOJI_OF.get(plain.replace(/^thumbsup$/, "+1").replace(/^thumbsdown$/, "-1")) ?? `:${name}:`;
}

function withoutVariation(emoji: string): string {
  return emoji.replaceAll("\uFE0F", "");
}
