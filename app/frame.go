package app

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"

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
	_, frame := chosenTheme(ctx, b, log)
	return frame
}

// chosenTheme returns the scheme of the theme that the person chose, "light" or "dark", and the colour of its frame. The scheme
// is empty, and the frame dark, when the window is to be like the system.
func chosenTheme(ctx context.Context, b webface.Backend, log *slog.Logger) (scheme string, frame rgb) {
	var chosen string
	setting(ctx, b, log, "appearance.theme", &chosen)
	switch chosen {
	case "light":
		return "light", lightFrame
	case "dark":
		return "dark", darkFrame
	}
	var have api.ThemeListResult
	if err := askOf(ctx, b, "theme_list", struct{}{}, &have); err != nil {
		log.Debug("the themes could not be read", "err", err)
	}
	for _, t := range have.Themes {
		if t.ID != chosen {
			continue
		}
		scheme, frame = "dark", darkFrame
		if t.Scheme == "light" {
			scheme, frame = "light", lightFrame
		}
		if r, g, b, ok := theme.RGB(t.UI["frame"]); ok {
			frame = rgb{r, g, b}
		}
		return scheme, frame
	}
	return "", darkFrame
}

// themed tells the page its scheme before it has run: until then it would look like the desktop, and flash where the person
// chose otherwise.
func themed(page fs.FS, scheme func(context.Context) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/" && r.URL.Path != "/index.html" {
			next.ServeHTTP(w, r)
			return
		}
		text, err := fs.ReadFile(page, "index.html")
		known := scheme(r.Context())
		if err != nil || known == "" {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(bytes.Replace(text, []byte("<html "), []byte(`<html data-theme="`+known+`" `), 1))
	})
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
