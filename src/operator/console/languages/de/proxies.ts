import type { PageTexts } from "../page-texts.ts";

export const proxies: PageTexts["proxies"] = {
  proxyNoun: "Proxy",
  credentials: "Zugangsdaten",
  withPassword: ", mit Passwort",
  traffic: "Verkehr",
  proxies: "Proxys",
  lead: "Konten können ihren Provider über einen Proxy erreichen. Den Proxy wählen Sie auf der Seite Konten.",
  noProxies: "Keine Proxys",
  noProxiesHint: "Alle Konten erreichen ihren Provider direkt.",
  deletionWarning: "Die zugeordneten Konten erreichen den Provider danach direkt.",
  healthy: "In Ordnung",
  skippedWith: (reason, value) => `${reason}
Mit ihm übersprungen: ${value}`,
  coolsDown: (duration) => `pausiert, ${duration}`,
  proxyAdded: "Proxy hinzugefügt",
  proxySaved: "Proxy gespeichert",
  addProxy: "Proxy hinzufügen",
  changeProxy: "Proxy ändern",
  type: "Typ",
  host: "Host",
  port: "Port",
  noUserName: "kein Benutzername",
  userName: "Benutzername",
  passwordHint: "Leer: das aktuelle Passwort behalten.",
  notTested: "nicht getestet",
  testing: "wird getestet",
};
