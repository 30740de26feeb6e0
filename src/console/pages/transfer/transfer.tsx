import { Page } from "../../ui/page.tsx";
import { ExportPanel } from "./export-panel.tsx";
import { ImportPanel } from "./import-panel.tsx";

/** Takes the configuration out, and brings one in. */
export function Transfer() {
  return (
    <Page
      title="Import and export"
      lead="The whole configuration in one file: a backup, or the way to another gateway."
    >
      <ExportPanel />
      <ImportPanel />
    </Page>
  );
}
