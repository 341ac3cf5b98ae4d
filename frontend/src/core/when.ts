/** A moment to the minute, with its date: for what is to come, and may be days away. */
export function moment(time: string | Date): string {
  const at = typeof time === "string" ? new Date(time) : time;
  if (Number.isNaN(at.getTime())) return "";
  const pad = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** A moment of the past in few words: the time of day for today, else the date. It never ages, so it needs no timer. */
export function clock(time: string | Date, now: Date): string {
  const at = typeof time === "string" ? new Date(time) : time;
  if (Number.isNaN(at.getTime())) return "";
  const pad = (n: number) => String(n).padStart(2, "0");
  if (at.toDateString() === now.toDateString()) return `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}
