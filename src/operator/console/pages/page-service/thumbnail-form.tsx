import { useEffect, useState } from "preact/hooks";
import { takeScreenshot } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { formatDuration } from "../../ui/format.ts";
import { CheckField, SelectField, TextField } from "../../ui/forms/field.tsx";
import { Problem } from "../../ui/loading/problem.tsx";
import { useAsyncAction } from "../../ui/loading/use-async-action.ts";
import { words } from "../../ui/words.ts";
import { LinkForm } from "./link-form.tsx";
import { DEFAULT_SCREENSHOT, FIELDS, FORMATS, SIZES, SWITCHES, screenshotPath } from "./screenshot-path.ts";
import { texts } from "./texts.ts";

/** The URL of the screenshot has this address until the user types one. */
const EXAMPLE_ADDRESS = "example.com";

interface TakenScreenshot {
  readonly url: string;
  /** Media type. */
  readonly type: string;
  /** URL of the captured page. */
  readonly page: string;
  readonly summary: string;
}

/** Form that takes a screenshot with the most important parameters and shows the request's URL. */
export function ThumbnailForm() {
  const [options, setOptions] = useState(DEFAULT_SCREENSHOT);
  const [screenshot, setScreenshot] = useState<TakenScreenshot | null>(null);
  useEffect(() => () => URL.revokeObjectURL(screenshot?.url ?? ""), [screenshot]);

  const path = screenshotPath(options);
  const isPdf = options.format === "pdf";
  const { busy, error, onSubmit } = useAsyncAction();
  const capture = async () => {
    // Clear the previous picture, so that an error does not appear beside it.
    setScreenshot(null);
    const started = performance.now();
    const { image, cache } = await takeScreenshot(path);
    const duration = formatDuration(performance.now() - started);
    const size = `${Math.ceil(image.size / 1024)} KB`;
    setScreenshot({
      url: URL.createObjectURL(image),
      type: image.type,
      page: options.url,
      summary: [image.type, size, duration, cache && texts.cache(cache)].filter(Boolean).join(", "),
    });
  };
  return (
    <div class="playground">
      <form class="stack" onSubmit={onSubmit(capture)}>
        <TextField
          label={words.address}
          value={options.url}
          onChange={(url) => setOptions({ ...options, url })}
          required
          placeholder={EXAMPLE_ADDRESS}
        />
        <div class="setting-grid">
          {!isPdf && (
            <SelectField
              label={texts.size}
              value={options.size}
              onChange={(size) => setOptions({ ...options, size })}
              choices={SIZES}
            />
          )}
          <SelectField
            label={texts.format}
            value={options.format}
            onChange={(format) => setOptions({ ...options, format })}
            choices={FORMATS}
          />
        </div>
        <div class="row switches">
          <CheckField
            label={texts.fullPage}
            value={isPdf || options.full}
            disabled={isPdf}
            onChange={(full) => setOptions({ ...options, full })}
          />
          <CheckField
            label={texts.mobile}
            value={options.mobile}
            onChange={(mobile) => setOptions({ ...options, mobile })}
          />
          <CheckField
            label={texts.darkMode}
            value={options.darkMode}
            onChange={(darkMode) => setOptions({ ...options, darkMode })}
          />
        </div>
        <details>
          <summary>{texts.moreOptions}</summary>
          <div class="stack">
            <div class="setting-grid">
              {FIELDS.filter(({ of }) => of !== (isPdf ? "picture" : "pdf")).map(
                ({ name, label, example }) => (
                  <TextField
                    key={name}
                    label={label}
                    value={options[name]}
                    onChange={(value) => setOptions({ ...options, [name]: value })}
                    placeholder={example}
                    mono
                  />
                ),
              )}
            </div>
            <div class="row switches">
              {SWITCHES.filter(({ of }) => of !== (isPdf ? "picture" : "pdf")).map(({ name, label }) => (
                <CheckField
                  key={name}
                  label={label}
                  value={options[name]}
                  onChange={(value) => setOptions({ ...options, [name]: value })}
                />
              ))}
            </div>
          </div>
        </details>
        <div>
          <Button kind="primary" type="submit" busy={busy}>
            {texts.takePicture}
          </Button>
        </div>
        <Problem error={error} />
        <CodeBlock
          label={texts.screenshotUrl}
          text={location.origin + screenshotPath({ ...options, url: options.url || EXAMPLE_ADDRESS })}
        />
        <LinkForm path={path} />
      </form>
      <div>
        <div class="shot">
          {screenshot === null ? (
            <p class="muted">{isPdf ? texts.pdfAppearsHere : texts.pictureAppearsHere}</p>
          ) : (
            <ScreenshotView {...screenshot} />
          )}
        </div>
        <p class="muted talk-foot" role="status">
          {screenshot?.summary}
        </p>
      </div>
    </div>
  );
}

/** Shows the result: a picture, or a link to save the PDF. */
function ScreenshotView({ url, type, page }: TakenScreenshot) {
  if (type !== "application/pdf") return <img src={url} alt={texts.page(page)} />;
  return (
    <a href={url} download="page.pdf">
      {texts.pdf(page)}
    </a>
  );
}
