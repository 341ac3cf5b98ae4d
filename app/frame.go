package app

import (
	"context"
	"encoding/json"
	"log/slog"

	"termic/app/webface"
	"termic/internal/api"
	"termic/internal/theme"
)

// rgb is a colour.
type rgb struct{ r, g, b uint8 }

// The frames of the window's own themes; those of tokens.css.
var (
	darkFrame  = rgb{0x16, 0x17, 0x1a}
	lightFrame = rgb{0xf5, 0xf5, 0xf3}
)

// frameColour is what is seen until the page is drawn: the frame of the theme, so that nothing flashes. What the system
// prefers is not known here.
func frameColour(ctx context.Context, b webface.Backend, log *slog.Logger) rgb {
	var chosen string
	setting(ctx, b, log, "appearance.theme", &chosen)
	if chosen == "light" {
		return lightFrame
	}
	var have api.ThemeListResult
	if err := askOf(ctx, b, "theme_list", struct{}{}, &have); err != nil {
		log.Debug("the themes could not be read", "err", err)
	}
	for _, t := range have.Themes {
		if t.ID != chosen {
			continue
		}
		if r, g, b, ok := theme.RGB(t.UI["frame"]); ok {
			return rgb{r, g, b}
		}
		if t.Scheme == "light" {
			return lightFrame
		}
	}
	return darkFrame
}

// askOf calls a verb and reads its result.
func askOf(ctx context.Context, b webface.Backend, verb string, params, into any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	data, err := b.Call(ctx, verb, raw)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// setting reads one setting; into keeps its value where that is not known.
func setting(ctx context.Context, b webface.Backend, log *slog.Logger, key string, into any) {
	var r struct {
		Value json.RawMessage `json:"value"`
	}
	err := askOf(ctx, b, "settings_get", api.SettingsGetParams{Key: key}, &r)
	if err == nil {
		err = json.Unmarshal(r.Value, into)
	}
	if err != nil {
		log.Debug("a setting could not be read", "key", key, "err", err)
	}
}
