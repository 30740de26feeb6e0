// A browser on a system without a locale reports one that `Intl` refuses, such as `en-US@posix`, with which the chart
// library calls it as soon as it is loaded.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en" });
}
