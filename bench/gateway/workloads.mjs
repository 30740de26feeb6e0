/** `count` parallel streams of 50 chunks each. Their starts are spread over one second. */
const live = (count) => ({
  name: `${count === 1 ? "one live stream" : `${count} live streams`}, 50 chunks at 20 ms`,
  live: count,
  job: {
    prompt: "Go on. [live:50:20]",
    stream: true,
    usage: true,
    chunks: 50,
    parallel: count,
    count,
    staggerMs: 1000 / count,
  },
  rounds: 1,
  quick: {},
  quickRounds: 1,
});

/** The live streams for the targets. */
export const LIVE = { ...live(200), rounds: 3 };

/**
 * Whole answers before the measured ones. V8 compiles what has run some thousand times: the first thousand answers of a gateway
 * cost twice as much as later ones, those of a pass-through about the same.
 */
const COMPILED = { parallel: 32, count: 3_000 };

/**
 * Workloads of each round. The upstream interprets the prompts. Live streams are only measured for subjects that could hold
 * a resource until the end.
 */
export const WORKLOADS = [
  {
    name: "whole answers, 1 at a time",
    job: { prompt: "Say something.", stream: false, chunks: 0, parallel: 1, count: 400 },
    warmUp: COMPILED,
    quick: { count: 150 },
  },
  {
    name: "whole answers, 32 at a time",
    job: { prompt: "Say something.", stream: false, chunks: 0, parallel: 32, count: 1600 },
    warmUp: COMPILED,
    quick: { count: 600 },
  },
  {
    name: "streams of 100 chunks, 1 at a time",
    job: { prompt: "Count. [burst:100]", stream: true, usage: true, chunks: 100, parallel: 1, count: 120 },
    quick: { count: 60 },
  },
  LIVE,
  live(1),
  live(50),
  live(400),
  live(800),
];
