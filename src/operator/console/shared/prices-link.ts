import { formatHref } from "../routing.ts";

/** Detail of the address of the page *Usage* that leads to the prices at its foot. */
export const PRICES_DETAIL = "prices";

export const PRICES_HREF = formatHref("usage", PRICES_DETAIL);
