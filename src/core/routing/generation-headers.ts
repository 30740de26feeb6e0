/** Headers that describe how a generation was answered. */
export const GENERATION_HEADERS = [
  "x-gateway-provider",
  "x-gateway-attempts",
  "x-gateway-path",
  "x-gateway-cost",
  "x-gateway-cost-without",
  "x-gateway-dropped-params",
  "x-gateway-cache",
] as const;
