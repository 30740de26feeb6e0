/*
 * The descriptions of the page service's headers and statuses in the OpenAPI document (contract, errors, limits and
 * caching).
 */

const RATE_HEADERS = {
  "RateLimit-Limit": "Calls a minute. This and what follows are missing for a key without a limit.",
  "RateLimit-Remaining": "Calls that are left now.",
  "RateLimit-Reset": "Seconds until there are more.",
  "RateLimit-Policy": "The limit, and its seconds.",
};

const JOB_HEADERS = {
  Location: "Of a job: its address.",
  "Retry-After": "Of a job that is not over: seconds after which it is worth a look.",
};

const PAGE_HEADERS = {
  ETag: "Tells this answer from all others; send it as If-None-Match to be spared what you have.",
  "x-page-url": "Where the page was found in the end.",
  "x-page-status": "What the page was answered with.",
  "x-page-incomplete": "true: the page is not all that it should be. JSON has the member incomplete, too.",
  "x-page-incomplete-reason":
    "blocked_markup: a script or style sheet did not answer, and what the server sent was read without it. load_timeout: the page still loaded resources when its time was over. over_budget: it wanted more than one page may load.",
  "x-page-over-budget": "true: the page wanted more than one page may load.",
};

const PICTURE_HEADERS = {
  "x-page-missing-glyphs":
    "Scripts of the page's text for which the browser has no font (Han, Arabic, Emoji, ...): the picture has boxes instead.",
  "x-image-width": "Pixels.",
  "x-image-height": "Pixels.",
  "x-page-cut-at": "CSS pixels of the page's height that are shown, where that is not all.",
  "x-page-cut-at-width": "The same of its width.",
  "x-page-sheets": "Sheets of a PDF.",
  "x-page-cut-at-sheet": "The last sheet, where there would be more.",
};

const CACHE_HEADERS = {
  Age: "Seconds since it was made.",
  "Cache-Control": "How long it may be kept.",
  "x-cache": "HIT, STALE, MISS or BYPASS.",
  "Server-Timing": "Where the time went, of an answer that was made for its request.",
};

/** Headers of an operation, direct or as a job. */
export const OPERATION_HEADERS = { ...RATE_HEADERS, ...JOB_HEADERS, ...PAGE_HEADERS, ...CACHE_HEADERS };
/** Headers of a picture. */
export const THUMBNAIL_HEADERS = { ...OPERATION_HEADERS, ...PICTURE_HEADERS };
/** Headers of a job's state. */
export const JOB_STATE_HEADERS = JOB_HEADERS;
/** Headers of a job's result. */
export const RESULT_HEADERS = { ...PAGE_HEADERS, ...PICTURE_HEADERS };

const KEY_STATUSES = {
  401: "A key that does not work.",
  403: "A key that may not be used here, a signed link that does not hold, or a parameter that needs a key.",
};

/** Statuses of an operation. */
export const OPERATION_STATUSES = {
  304: "The caller has it already (If-None-Match).",
  400: "A parameter that is not acceptable, or an address that may not be loaded.",
  ...KEY_STATUSES,
  422: "The address leads to no page, to too large a one, or to one that fails as failOn… says.",
  429: "More calls than the limit, or more jobs; with Retry-After.",
  502: "The page cannot be reached, or crashed its browser.",
  503: "No browser, or too many who wait for one; with Retry-After.",
  504: "The page took too long.",
};
/** Statuses of pictures. */
export const THUMBNAIL_STATUSES = { ...OPERATION_STATUSES, 404: "No element matches a selector." };
/** Further statuses of a request with a body. */
export const BODY_STATUSES = { 413: "A body that is too long." };
/** Statuses of a job's state. */
export const JOB_STATE_STATUSES = { 404: "No such job, or not any more." };
/** Statuses of a job's result. */
export const RESULT_STATUSES = {
  ...THUMBNAIL_STATUSES,
  404: "No such job or result, or not any more; or no element matches a selector.",
  409: "Nothing has come of it, yet or at all.",
};
