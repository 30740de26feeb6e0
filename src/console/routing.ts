import { createStore, useStore } from "./store.ts";

/** Where the console is: `#/history/abc` is the page `history` with the detail `abc`. */
export interface Place {
  readonly page: string;
  readonly detail: string;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function read(): Place {
  const [page = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  return { page: page === "" ? "overview" : page, detail: decode(rest.join("/")) };
}

const place = createStore<Place>(read());
addEventListener("hashchange", () => place.set(read()));

export const usePlace = (): Place => useStore(place);

/** The address of a page, for links. */
export function href(page: string, detail = ""): string {
  return detail === "" ? `#/${page}` : `#/${page}/${encodeURIComponent(detail)}`;
}

export function go(page: string, detail = ""): void {
  location.hash = href(page, detail);
}
