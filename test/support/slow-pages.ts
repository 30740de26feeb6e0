const SLOW_ADDRESS = `${"1".repeat(900)}/glider.min.j/email.min.js/jsviews.js/modernizr.js/mathjax.js`;
const STEEP_ADDRESS = `/bootstrap${"1".repeat(900)}-.js`;

/** Pages that slow down technology detection, by the slow part. */
export const SLOW_PAGES = {
  "many links to style sheets that never end": {
    html: `${"<link href=govuk-frontend12345678901234567890123456789012345678 ".repeat(30_000)}.css`,
  },
  "long numbers where versions are looked for": {
    html: `<link href=bootstrap${"1".repeat(600)}-.css>`.repeat(3_000),
  },
  "paths of many parts": { html: `${"<a /binaries/co/".repeat(120_000)}content/gallery/` },
  "script addresses made to be slow": {
    scriptSrc: Array.from(
      { length: 2_000 },
      (_, index) => `${index % 2 ? SLOW_ADDRESS : STEEP_ADDRESS}?${index}`,
    ),
  },
} as const;
