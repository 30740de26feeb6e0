import type { Choice } from "../../ui/field.tsx";

/** What picture is wanted; empty fields are the service's defaults. */
export interface ShotWish {
  readonly url: string;
  readonly size: string;
  readonly format: string;
  readonly selector: string;
  readonly delay: string;
  readonly full: boolean;
  readonly mobile: boolean;
  readonly darkMode: boolean;
}

export const EMPTY_SHOT: ShotWish = {
  url: "",
  size: "x",
  format: "jpg",
  selector: "",
  delay: "",
  full: false,
  mobile: false,
  darkMode: false,
};

/** The predefined sizes. */
export const SIZES: readonly Choice[] = [
  ["t", "Tiny, 90 × 68"],
  ["s", "Small, 120 × 90"],
  ["m", "Medium, 200 × 150"],
  ["l", "Large, 400 × 300"],
  ["x", "Extra large, 480 × 360"],
  ["og", "For sharing, 1200 × 630"],
  ["o", "As it is"],
];

/** The path and query of a picture; what is left at its default does not appear. */
export function shotPath(wish: ShotWish): string {
  const query = new URLSearchParams({ url: wish.url, size: wish.size });
  if (wish.format !== "jpg") query.set("format", wish.format);
  if (wish.selector !== "") query.set("selector", wish.selector);
  if (wish.delay !== "") query.set("delay", wish.delay);
  for (const name of ["full", "mobile", "darkMode"] as const) if (wish[name]) query.set(name, "true");
  return `/v1/thumbs/?${query}`;
}
