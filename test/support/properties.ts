import fc from "fast-check";

/**
 * Properties are tried with a new seed each time, so that they go on finding things; but in CI with the same one, so that a
 * change is judged by what it changes. A failing seed is printed and becomes a named case.
 */
if (process.env["CI"] !== undefined) fc.configureGlobal({ seed: 20_261_120 });
