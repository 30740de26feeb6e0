import { formatPlural } from "../../ui/count.ts";
import type { PageTexts } from "../page-texts.ts";

export const settings: PageTexts["settings"] = {
  settings: "Einstellungen",
  lead: "Änderungen gelten überall innerhalb von zwei Sekunden.",
  searchSettings: "Einstellungen suchen",
  noSettingMatches: "Keine Einstellung passt.",
  headings: {
    Load: "Last",
    Requests: "Anfragen",
    Storage: "Speicher",
    Callers: "Aufrufer",
    Administration: "Verwaltung",
  },
  fields: {
    "runtime.account_max_inflight": {
      title: "Gleichzeitige Anfragen pro Konto",
      description: "So viele Anfragen bearbeitet ein Konto höchstens gleichzeitig.",
    },
    "runtime.global_max_inflight": {
      title: "Gleichzeitige Anfragen insgesamt",
      description:
        "So viele Anfragen bearbeiten alle Konten höchstens gleichzeitig. 0: Konten × Anfragen pro Konto.",
    },
    "runtime.account_max_queue": {
      title: "Länge der Warteschlange",
      description:
        "So viele Anfragen warten höchstens. Weitere erhalten 429. 0: Konten × Anfragen pro Konto.",
    },
    "runtime.account_failovers": {
      title: "Weitere Versuche",
      description:
        "Wie viele andere Konten das Gateway versucht, wenn der Provider vor Beginn der Antwort scheitert.",
    },
    "runtime.token_refresh_interval_hours": {
      title: "Token erneuern nach (Stunden)",
      description:
        "Höchstes Alter des Tokens eines Kontos. 0: erst neu anmelden, wenn der Provider das Token ablehnt.",
    },
    "thinking_injection.enabled": {
      title: "Denkanweisung",
      description:
        "Hängt einen Text an die letzte Nachricht des Benutzers, solange Denken eingeschaltet ist.",
    },
    "thinking_injection.prompt": {
      title: "Text der Denkanweisung",
      description: "Der angehängte Text. Leer: der eingebaute Text.",
    },
    "current_input_file.enabled": {
      title: "Lange Prompts als Datei",
      description: "Lädt einen langen Prompt als Datei hoch, statt ihn als Text zu senden.",
    },
    "current_input_file.min_chars": {
      title: "Grenze für lange Prompts (Zeichen)",
      description: "Prompts ab dieser Länge werden hochgeladen.",
    },
    "auto_delete.mode": {
      title: "Chatsitzungen löschen",
      description: "Was das Gateway nach einer Antwort beim Provider löscht.",
      choices: { none: "Nichts", single: "Die Sitzung der Anfrage", all: "Alle Sitzungen des Kontos" },
    },
    "embeddings.provider": {
      title: "Embeddings",
      description:
        "Wer Anfragen nach Embeddings beantwortet. Testvektoren werden ohne Modell aus den Wörtern berechnet: Sie genügen, um einen Client zu testen, nicht für eine echte Suche.",
      choices: {
        "": "Aus: Anfragen erhalten 501",
        builtin: "Testvektoren; Embedding-Modelle von Providern mit provider/modell",
        upstream: "Die Embedding-Modelle des Providers",
        deterministic: "Testvektoren (dasselbe, früherer Name „deterministic“)",
        mock: "Testvektoren (dasselbe, früherer Name „mock“)",
      },
    },
    "unknown_models.provider": {
      title: "Provider für unbekannte Modellnamen",
      description: "ID des Providers, der Anfragen für unbekannte Modelle erhält. Leer: ablehnen.",
    },
    "cache.ttl_seconds": {
      title: "Antwort-Cache (Sekunden)",
      description:
        "Wie lange eine Antwort wieder geliefert wird, sofern Schlüssel, Modell oder Provider nichts anderes festlegen. 0: gar nicht.",
    },
    "responses.store_ttl_seconds": {
      title: "Gespeicherte Antworten (Sekunden)",
      description: "Wie lange gespeicherte Antworten (Responses-Stil) verfügbar sind.",
    },
    "log.sample": {
      title: "Anteil im Log",
      description: "Anteil der erfolgreichen Anfragen im Log. 1: alle. Fehler stehen immer im Log.",
    },
    "history.limit": {
      title: "Verlauf",
      description: "So viele Generierungen werden höchstens gespeichert. 0: kein Verlauf.",
    },
    "captures.enabled": {
      title: "Verkehr mit Providern mitschneiden",
      description:
        "Speichert Anfragen an den Provider und seine Antworten zur Fehlersuche. Geheimnisse werden maskiert.",
    },
    "captures.limit": {
      title: "Mitschnitte",
      description: "So viele Mitschnitte werden höchstens gespeichert.",
    },
    "captures.max_body_bytes": {
      title: "Größter mitgeschnittener Body (Bytes)",
      description: "Längere Bodys werden gekürzt.",
    },
    "callers.unknown_keys": {
      title: "Unbekannte API-Schlüssel",
      description:
        "Weitergeben: Der Provider erhält den Schlüssel als sein Token. Automatisch: weitergeben, aber ablehnen, solange das Gateway keine Zugangsdaten für den Provider hat.",
      choices: { auto: "Automatisch", pass_through: "An den Provider weitergeben", refuse: "Ablehnen" },
    },
    "callers.keys_hashed": {
      title: "Nur Hashwerte der Schlüssel speichern",
      description:
        "Schlüssel sind dann weder hier noch in Exporten lesbar, und gespeicherte Konfigurationen werden gelöscht. Für vorhandene Schlüssel nicht rückgängig zu machen.",
    },
    "admin.jwt_expire_hours": {
      title: "Dauer einer Sitzung (Stunden)",
      description: "Wie lange eine Anmeldung an dieser Konsole gilt.",
    },
  },
  default: (value) => `Standard: ${value}.`,
  on: "ein",
  off: "aus",
  mustBeNumber: (isWhole, from, to) => {
    const bounds = [from === "" ? "" : ` ab ${from}`, to === "" ? "" : ` bis ${to}`].join("");
    return `Muss eine ${isWhole ? "ganze Zahl" : "Zahl"}${bounds} sein.`;
  },
  unsavedChangeCount: (count) => formatPlural(count, "ungespeicherte Änderung", "ungespeicherte Änderungen"),
  settingsSaved: "Einstellungen gespeichert",
  passwordsDiffer: "Die Passwörter sind verschieden.",
  passwordChanged: "Passwort geändert",
  unsavedPassword: "ein noch nicht geändertes Passwort",
  sharedPassword: "Passwort für die Anmeldung ohne Namen",
  sharedPasswordUse:
    "Es gilt wie der Admin-Schlüssel. Die Passwörter von Administratoren mit Namen stehen auf der Seite „Administratoren“.",
  passwordIsSet: "Ein Passwort ist festgelegt.",
  passwordIsNotSet: "Es gibt kein Passwort, nur den Admin-Schlüssel der Installation.",
  passwordEndsSessions: "Eine Änderung des Passworts beendet alle Sitzungen, auch diese.",
  newPassword: "Neues Passwort",
  repeatPassword: "Passwort wiederholen",
  changePassword: "Passwort ändern",
  telemetry: "OpenTelemetry",
  telemetryOff:
    "Es werden keine Traces und Metriken gesendet. Die Variable OTEL_EXPORTER_OTLP_ENDPOINT nennt einen Collector.",
  telemetryOn: (protocol) =>
    `Traces und Metriken werden mit ${protocol} gesendet. Die Zahlen gelten für das Isolate oder den Prozess, der geantwortet hat.`,
  traces: "Traces",
  metrics: "Metriken",
  collector: "Collector",
  sent: "Gesendet",
  dropped: "Verworfen",
  lastDelivery: "Letzte Übertragung",
  delivering: "kein Fehler",
  notSent: "nicht gesendet",
};
