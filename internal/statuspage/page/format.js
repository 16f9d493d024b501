// How things are written. Everything here makes text; nothing makes markup.

const number = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const shortClock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export const count = n => (n === null || n === undefined ? "–" : number.format(n));

// plural is "1 worker" and "2 workers".
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

export const hourMinute = ms => shortClock.format(ms);

// time is the time of day, with the day if it is another one.
export function time(when) {
  const t = new Date(when), now = new Date();
  if (Number.isNaN(t.getTime())) return "–";
  const far = Math.abs(t - now) > 20 * 3600e3 || t.getDate() !== now.getDate();
  return far ? `${day.format(t)}, ${clock.format(t)}` : clock.format(t);
}

// span is a duration in its two largest units.
export function span(ms) {
  const s = Math.round(Math.abs(ms) / 1000);
  if (Math.abs(ms) < 995) return `${Math.round(Math.abs(ms))} ms`;
  if (s < 10) return `${(Math.abs(ms) / 1000).toFixed(1).replace(/\.0$/, "")} s`;
  if (s < 60) return `${s} s`;
  const m = Math.floor(s / 60);
  if (m < 60) return s % 60 ? `${m} min ${s % 60} s` : `${m} min`;
  const h = Math.floor(m / 60);
  if (h < 48) return m % 60 ? `${h} h ${m % 60} min` : `${h} h`;
  return `${Math.floor(h / 24)} d ${h % 24} h`;
}

// round is a duration in its largest unit, for what need not be exact.
export function round(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 48 * 3600 ? `${Math.floor(s / 3600)} h` : `${Math.floor(s / 86400)} d`;
}

// What a reader would not see, or what would turn the text around it: controls,
// marks of direction, lone surrogates, tags.
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

// visible writes such characters as what they are, and cuts what is too long.
export function visible(text, most = 200) {
  text = String(text ?? "");
  const cut = text.length > most;
  if (cut) text = text.slice(0, most);
  text = text.replace(unseen, c => `\\u{${c.codePointAt(0).toString(16)}}`);
  return cut ? `${text}…` : text === "" ? "(no name)" : text;
}

// shell is text as one word of a command line, for bash where it has characters that
// nobody could copy.
export function shell(text) {
  text = String(text);
  if (/^[A-Za-z0-9_./:=@%+-]+$/.test(text)) return text;
  if (text.search(unseen) < 0) return `'${text.replace(/'/g, `'\\''`)}'`;
  const inner = text.replace(/[\\']/g, "\\$&").replace(unseen, c => {
    const code = c.codePointAt(0);
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return `$'${inner}'`;
}

// argument is shell for a word that must not be taken for a flag.
export const argument = text => (String(text).startsWith("-") ? `-- ${shell(text)}` : shell(text));

const reasons = { __proto__: null, limit: "rate limit", cooling: "the model server asked to slow down", paused: "paused", circuit: "circuit open" };
export const reason = word => reasons[word] ?? visible(word, 40);

export const state = word => ({ __proto__: null, half_open: "half open" })[word] ?? visible(word, 20);

const kinds = {
  __proto__: null,
  invalid_message: "not a chunk or document", malformed: "the answer was not the JSON asked for", empty: "the answer was empty",
  truncated: "the answer was cut off", refused: "the model refused", context_too_long: "longer than the model takes",
  invalid_request: "the server would not have it", attempts_exhausted: "failed too often", deadline: "took too long",
};
export const kind = word => kinds[word] ?? "";
