import { useEffect, useState } from "preact/hooks";
import { takeShot } from "../../api/page-service.ts";
import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code-block.tsx";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { duration } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { useWork } from "../../ui/use-work.ts";
import { EMPTY_SHOT, SIZES, shotPath } from "./shot-path.ts";

interface Taken {
  readonly url: string;
  /** The page that it shows. */
  readonly page: string;
  readonly said: string;
}

/** Takes a picture of a page with the parameters that matter most, and shows the address that does it. */
export function ThumbnailForm() {
  const [wish, setWish] = useState(EMPTY_SHOT);
  const [taken, setTaken] = useState<Taken | null>(null);
  useEffect(() => () => URL.revokeObjectURL(taken?.url ?? ""), [taken]);

  const path = shotPath(wish);
  const { busy, error, onSubmit } = useWork();
  const take = async () => {
    // A failure does not stand beside the picture of another address.
    setTaken(null);
    const started = performance.now();
    const { image, cache } = await takeShot(path);
    const took = duration(performance.now() - started);
    const size = `${Math.ceil(image.size / 1024)} KB`;
    setTaken({
      url: URL.createObjectURL(image),
      page: wish.url,
      said: [image.type, size, took, cache && `cache: ${cache}`].filter(Boolean).join(", "),
    });
  };
  return (
    <div class="playground">
      <form class="stack" onSubmit={onSubmit(take)}>
        <TextField
          label="Address"
          value={wish.url}
          onChange={(url) => setWish({ ...wish, url })}
          required
          placeholder="example.com"
        />
        <div class="setting-grid">
          <SelectField
            label="Size"
            value={wish.size}
            onChange={(size) => setWish({ ...wish, size })}
            choices={SIZES}
          />
          <SelectField
            label="Format"
            value={wish.format}
            onChange={(format) => setWish({ ...wish, format })}
            choices={[
              ["jpg", "JPEG"],
              ["png", "PNG"],
              ["webp", "WebP"],
            ]}
          />
          <TextField
            label="Only this element"
            value={wish.selector}
            onChange={(selector) => setWish({ ...wish, selector })}
            placeholder="#main"
            mono
          />
          <TextField
            label="Wait (seconds)"
            type="number"
            min={0}
            max={10}
            value={wish.delay}
            onChange={(delay) => setWish({ ...wish, delay })}
          />
        </div>
        <div class="row switches">
          <CheckField label="Full page" value={wish.full} onChange={(full) => setWish({ ...wish, full })} />
          <CheckField
            label="Mobile"
            value={wish.mobile}
            onChange={(mobile) => setWish({ ...wish, mobile })}
          />
          <CheckField
            label="Dark mode"
            value={wish.darkMode}
            onChange={(darkMode) => setWish({ ...wish, darkMode })}
          />
        </div>
        <div>
          <Button kind="primary" type="submit" busy={busy}>
            Take picture
          </Button>
        </div>
        <Problem error={error} />
        <CodeBlock label="Address of the picture" text={location.origin + path} />
      </form>
      <div>
        <div class="shot">
          {taken === null ? (
            <p class="muted">The picture appears here.</p>
          ) : (
            <img src={taken.url} alt={`The page ${taken.page}`} />
          )}
        </div>
        <p class="muted talk-foot" role="status">
          {taken?.said}
        </p>
      </div>
    </div>
  );
}
