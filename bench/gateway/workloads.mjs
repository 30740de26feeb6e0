/** `count` streams at the same time, 50 chunks each: all have begun within a second, none at one moment with another. */
const live = (count) => ({
  name: `${count === 1 ? "one live stream" : `${count} live streams`}, 50 chunks at 20 ms`,
  live: count,
  job: {
    prompt: "Go on. [live:50:20]",
    stream: true,
    chunks: 50,
    parallel: count,
    count,
    staggerMs: 1000 / count,
  },
  rounds: 1,
  quick: {},
  quickRounds: 1,
});

/** The live streams that aims are about. */
export const LIVE = { ...live(200), rounds: 3 };

/**
 * What is asked of the subjects in each round, and how much of it. Prompts are read by the upstream. The live streams are asked of
 * those that could hold something until the end.
 */
export const WORKLOADS = [
  {
    name: "whole answers, 1 at a time",
    job: { prompt: "Say something.", stream: false, chunks: 0, parallel: 1, count: 400 },
    quick: { count: 150 },
  },
  {
    name: "whole answers, 32 at a time",
    job: { prompt: "Say something.", stream: false, chunks: 0, parallel: 32, count: 1600 },
    quick: { count: 600 },
  },
  {
    name: "streams of 100 chunks, 1 at a time",
    job: { prompt: "Count. [burst:100]", stream: true, chunks: 100, parallel: 1, count: 120 },
    quick: { count: 60 },
  },
  LIVE,
  live(1),
  live(50),
  live(400),
  live(800),
];
