/** A link of the sidebar. */
export interface SidebarItem {
  readonly text: string;
  /** The path of the page, without its ending. */
  readonly link: string;
}

interface ListedPage {
  readonly name: string;
  readonly title: string;
}

/** Groups of the sidebar of the documents' web site. */
export function sidebar(
  reference: readonly ListedPage[],
  decisions: readonly ListedPage[],
): { readonly text: string; readonly items: readonly SidebarItem[] }[];
