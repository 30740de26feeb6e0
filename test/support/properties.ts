import fc from "fast-check";

/**
 * Property tests use a new seed in each run, so that they keep finding errors. CI uses a fixed seed, so that only the
 * change itself can cause failures. A failing seed is printed and becomes a named case.
 */
if (process.env["CI"] !== undefined) fc.configureGlobal({ seed: 20_261_120 });
