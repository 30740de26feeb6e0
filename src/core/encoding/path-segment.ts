/** Whether a URL parser would resolve the name as a path segment: `.` and `..`, which cannot be escaped (WHATWG URL). */
export function isDotSegment(name: string): boolean {
  return name === "." || name === "..";
}

/** Removes trailing slashes in linear time: `/\/+$/` takes quadratic time for a long run of slashes elsewhere. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length;
  while (address[end - 1] === "/") end -= 1;
  return address.slice(0, end);
}
