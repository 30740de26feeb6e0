// On a system without a locale, browsers report one that `Intl` rejects, such as `en-US@posix`. The chart library passes it
// to `Intl` as soon as it loads.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en" });
}
