/*
 * The descriptions of the page service's headers and statuses in the OpenAPI document
 * (docs/page-contract.md, Errors).
 */

const RATE_HEADERS = {
  "RateLimit-Limit": "Calls a minute. A key without a limit has no RateLimit headers.",
  "RateLimit-Remaining": "Calls left in this minute.",
  "RateLimit-Reset": "Seconds until more calls are allowed.",
  "RateLimit-Policy": "The limit and its period in seconds.",
};

const JOB_HEADERS = {
  Location: "The address of the job.",
  "Retry-After": "Seconds after which to ask for an unfinished job again.",
};

const PAGE_HEADERS = {
  ETag: "Identifies this version of the answer. Send it as If-None-Match to get a 304 if nothing has changed.",
  "x-page-url": "The final address of the page, after redirects.",
  "x-page-status": "The HTTP status of the page.",
  "x-page-incomplete": "true: the page is incomplete. JSON answers also have the member incomplete.",
  "x-page-incomplete-reason":
    "blocked_markup: a script or style sheet did not answer, so the server's markup was read without it. load_timeout: the page still loaded resources when its time was over. response_cut: the server's response broke off or could not be decoded. over_budget: the page exceeded its limit of requests, bytes or computing time.",
  "x-page-over-budget": "true: the page exceeded its limit of requests, bytes or computing time.",
};

const PICTURE_HEADERS = {
  "x-page-missing-glyphs":
    "Scripts of the page's text for which the browser has no font (Han, Arabic, Emoji, ...): the picture has boxes instead.",
  "x-image-width": "Pixels.",
  "x-image-height": "Pixels.",
  "x-page-cut-at": "The height of the shown part in CSS pixels, if the page is higher.",
  "x-page-cut-at-width": "The width of the shown part in CSS pixels, if the page is wider.",
  "x-page-sheets": "Number of sheets of a PDF.",
  "x-page-cut-at-sheet": "The number of the last sheet, if the page has more.",
};

const CACHE_HEADERS = {
  Age: "Seconds since the answer was created.",
  "Cache-Control": "How long the answer may be cached.",
  "x-cache": "HIT, STALE, MISS or BYPASS.",
  "Server-Timing": "The duration of each step in milliseconds, if the answer was created for this request.",
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
  403: "A key that may not be used here, an invalid signed link, or a parameter that needs a key.",
};

/** Statuses of an operation. */
export const OPERATION_STATUSES = {
  304: "The answer has not changed (If-None-Match).",
  400: "An invalid parameter, or an address that may not be loaded.",
  ...KEY_STATUSES,
  422: "The address leads to no page, the page is too large, or it fails as failOn… says.",
  429: "More calls than the limit, or more jobs; with Retry-After.",
  502: "The page cannot be reached, or crashed its browser.",
  503: "No browser, or too many requests that wait for one; with Retry-After.",
  504: "The page took too long.",
};
/** Statuses of pictures. */
export const THUMBNAIL_STATUSES = { ...OPERATION_STATUSES, 404: "No element matches a selector." };
/** Further statuses of a request with a body. */
export const BODY_STATUSES = { 413: "The body is too large." };
/** Statuses of a job's state. */
export const JOB_STATE_STATUSES = { 404: "The job does not exist, or no longer." };
/** Statuses of a job's result. */
export const RESULT_STATUSES = {
  ...THUMBNAIL_STATUSES,
  404: "The job or result does not exist, or no longer; or no element matches a selector.",
  409: "The address has no result yet, or was cancelled.",
};
