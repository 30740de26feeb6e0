import { describe, expect, it } from "vitest";
import { parseVariables } from "../../../../src/core/variables/parse-variables.ts";

const read = (env: Record<string, string>) => parseVariables(env, { drivers: ["sessions"] }).telemetry;
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.test/otlp/" };

describe("the variables of OpenTelemetry", () => {
  it("send nothing without an endpoint, or if they disable it", () => {
    expect(read({})).toBeNull();
    expect(read({ OTEL_SERVICE_NAME: "x", OTEL_EXPORTER_OTLP_HEADERS: "a=b" })).toBeNull();
    expect(read({ ...ENDPOINT, OTEL_SDK_DISABLED: "true" })).toBeNull();
    expect(read({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" })).toBeNull();
  });

  it("add the path of each signal to the common endpoint, but not to a signal's own endpoint", () => {
    expect(read(ENDPOINT)).toEqual({
      tracesUrl: "https://collector.test/otlp/v1/traces",
      metricsUrl: "https://collector.test/otlp/v1/metrics",
      protocol: "http/protobuf",
      headers: {},
      serviceName: "polygate",
      resourceAttributes: {},
      followsCallersSampling: false,
      delayMs: 5_000,
    });
    expect(read({ ...ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://m.test/in/" })).toMatchObject({
      tracesUrl: "https://collector.test/otlp/v1/traces",
      metricsUrl: "http://m.test/in/",
    });
    expect(read({ ...ENDPOINT, OTEL_METRICS_EXPORTER: "none" })?.metricsUrl).toBeNull();
    const trusting = read({ ...ENDPOINT, OTEL_TRACES_SAMPLER: "parentbased_always_on" });
    expect(trusting?.followsCallersSampling).toBe(true);
  });

  it("accept pairs with percent-encoded values, which may contain an equals sign", () => {
    const { headers, resourceAttributes } =
      read({
        ...ENDPOINT,
        OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20YTpi==, x-team = a%2Cb,",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=t%C3%A9st",
      }) ?? {};
    expect(headers).toEqual({ authorization: "Basic YTpi==", "x-team": "a,b" });
    expect(resourceAttributes).toEqual({ "deployment.environment.name": "t\u00e9st" });
  });

  it.each([
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "no-value-secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a b=secret"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0Ainjected: b"],
    ["OTEL_EXPORTER_OTLP_HEADERS", "a=secret%"],
    ["OTEL_BSP_SCHEDULE_DELAY", "20001"],
    ["OTEL_TRACES_EXPORTER", "zipkin"],
    ["OTEL_TRACES_SAMPLER", "traceidratio"],
  ])("stop the start if %s is %j, without showing secrets", (name, value) => {
    const start = () => read({ ...ENDPOINT, [name]: value });
    expect(start).toThrow(new RegExp(`^${name} `));
    expect(start).not.toThrow(/secret/);
  });
});
