import { useState } from "preact/hooks";
import { Page, Panel } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { MetadataLookup } from "./metadata-lookup.tsx";
import { TechnologyLookup } from "./technology-lookup.tsx";
import { ThumbnailForm } from "./thumbnail-form.tsx";

/** Page to try the three operations of the page service. */
export function PageService() {
  const [tab, setTab] = useState("thumbnail");
  return (
    <Page title="Web pages" lead="Screenshots, technologies and metadata of web pages. No key needed.">
      <Panel>
        <Tabs
          label="Operations"
          current={tab}
          onChange={setTab}
          tabs={[
            { id: "thumbnail", name: "Thumbnail", content: () => <ThumbnailForm /> },
            { id: "technologies", name: "Technologies", content: () => <TechnologyLookup /> },
            { id: "metadata", name: "Metadata", content: () => <MetadataLookup /> },
          ]}
        />
      </Panel>
    </Page>
  );
}
