import type { Instrument } from "./metric-buffer.ts";

/** Seconds. OpenTelemetry's conventions recommend the bounds of this file. */
const OPERATION_BOUNDS = [
  0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
const FIRST_TOKEN_BOUNDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];
const HTTP_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKEN_BOUNDS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
];

export const HTTP_DURATION: Instrument = {
  name: "http.server.request.duration",
  description: "Duration of HTTP requests to the gateway.",
  unit: "s",
  bounds: HTTP_BOUNDS,
};
export const OPERATION_DURATION: Instrument = {
  name: "gen_ai.client.operation.duration",
  description: "Duration of the attempts at providers.",
  unit: "s",
  bounds: OPERATION_BOUNDS,
};
export const FIRST_TOKEN: Instrument = {
  name: "gen_ai.server.time_to_first_token",
  description: "Time from a request to the first token of its answer.",
  unit: "s",
  bounds: FIRST_TOKEN_BOUNDS,
};
export const TOKEN_USAGE: Instrument = {
  name: "gen_ai.client.token.usage",
  description: "Tokens by kind, one observation for each generation.",
  unit: "{token}",
  bounds: TOKEN_BOUNDS,
};
