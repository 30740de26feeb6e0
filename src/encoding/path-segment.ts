/** Whether a name would be resolved away in an address, where nothing escapes it: `.` and `..` (WHATWG URL). */
export function isDots(name: string): boolean {
  return name === "." || name === "..";
}

/** An address without the slashes at its end, in linear time: `/\/+$/` takes the square of a long run of slashes elsewhere. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === "/") end -= 1;
  return address.slice(0, end);
}
