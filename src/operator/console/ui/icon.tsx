/** Paths of the line icons, on a 24 × 24 grid. */
const PATHS = {
  overview: "M4 13h4v7H4zM10 4h4v16h-4zM16 9h4v11h-4z",
  usage: "M4 4v16h16M8 16l4-5 3 3 5-7",
  accounts: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c1-4 4-6 8-6s7 2 8 6",
  keys: "M8 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 12h9M18 12v4M15 12v3",
  administrators: "M12 3l8 3v6c0 4.500-3.300 7.500-8 9-4.700-1.500-8-4.500-8-9V6zM9 12l2 2 4-4",
  teams:
    "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2 20c.8-4 3.500-6 7-6s6.200 2 7 6M16 4.500a3.5 3.5 0 0 1 0 6.500M18 14.500c2.200.8 3.500 2.600 4 5.500",
  proxies:
    "M3 7h3.5c5 0 6 10 11 10H21M3 17h3.5c1.6 0 2.8-1 3.8-2.4M13.7 9.4C14.700 8 15.900 7 17.500 7H21M18.500 4.500L21 7l-2.500 2.500M18.500 14.500L21 17l-2.500 2.500",
  providers: "M5 4h14v6H5zM5 14h14v6H5zM8 7h.01M8 17h.01M12 10v4",
  models: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
  guardrails: "M4 5h16M4 19h16M6 5v14M12 5v14M18 5v14M4 12h16",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  transfer: "M8 4v14M4 14l4 4 4-4M16 20V6M12 10l4-4 4 4",
  hosting: "M7 18a4 4 0 0 1 0-8 5 5 0 0 1 10-1 4.5 4.5 0 0 1 0 9zM12 13v5",
  connect: "M9 4v5M15 4v5M6 9h12v3a6 6 0 0 1-12 0zM12 18v3",
  playground: "M5 5h14v10H10l-5 4z",
  pages: "M4 5h16v14H4zM4 9h16M7 7h.01",
  history: "M12 4a8 8 0 1 1-7 4M4 4v4h4M12 8v4l3 2",
  captures: "M12 9a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM4 7h4l2-2h4l2 2h4v12H4z",
  audit: "M7 4h10v16H7zM10 8h4M10 12h4M10 16h2",
  alerts: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  warning: "M12 4l9 16H3zM12 10v4M12 17h.01",
  info: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5M12 8h.01",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M5 19l1.5-1.5M17.5 6.5L19 5",
  moon: "M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z",
  half: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16M15 5v14M18 7v10",
  out: "M10 4H5v16h5M14 8l4 4-4 4M18 12H9",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.5 15.500L20 20",
  keyboard: "M3 7h18v10H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
  language: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM4 12h16M12 4c-5 5-5 11 0 16M12 4c5 5 5 11 0 16",
  plus: "M12 5v14M5 12h14",
} as const;

export type IconName = keyof typeof PATHS;

/** A decorative icon beside a text, hidden from screen readers. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon-svg" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
