/** The beginning of a text, with a sign that there was more. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
}
