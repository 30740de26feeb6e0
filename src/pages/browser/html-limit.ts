/** Maximum HTML of a page that is read or parsed, in UTF-16 code units. The rest is cut off. */
export const MAX_HTML = 2_000_000;
