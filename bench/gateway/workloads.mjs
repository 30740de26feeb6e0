/** What is asked of every subject in each round, and how much of it. Prompts are read by the upstream. */
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
  {
    name: "200 live streams, 50 chunks at 20 ms",
    // A client every 5 ms: the 200 are never asked for at one moment, and overlap all the same.
    job: { prompt: "Go on. [live:50:20]", stream: true, chunks: 50, parallel: 200, count: 200, staggerMs: 5 },
    quick: {},
    quickRounds: 1,
  },
];
