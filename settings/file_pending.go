package settings

import (
	"context"
	"log/slog"
)

// Options of Open. Home replaces ~ (default os.UserHomeDir); Log may be nil.
type Options struct {
	Home string
	Log  *slog.Logger
}

type File struct{}

// Open reads path (absent: defaults) and watches its folder until Close. An unparseable file is no error: see ReadOnly.
func Open(path string, o Options) (*File, error) { panic("pending") }
func (f *File) Close() error                     { panic("pending") }
func (f *File) Path() string                     { panic("pending") }
func (f *File) Get() Settings                    { panic("pending") }

// Values returns every setting of Table by dotted key as the settings page and `settings get` show them, with agents, prompts, keys.
func (f *File) Values() map[string]any                                  { panic("pending") }
func (f *File) Value(key string) (any, error)                           { panic("pending") } // fault.NotFound
func (f *File) ReadOnly() bool                                          { panic("pending") }
func (f *File) Problem() string                                         { panic("pending") } // "" or all problems in one text
func (f *File) Problems() []Problem                                     { panic("pending") }
func (f *File) Notes() []Problem                                        { panic("pending") } // unknown keys
func (f *File) Reload() error                                           { panic("pending") }
func (f *File) Patch(ctx context.Context, changes map[string]any) error { panic("pending") } // nil value: back to default

// Subscribe calls fn after each change, one call at a time, until stop.
func (f *File) Subscribe(fn func(Settings)) (stop func()) { panic("pending") }

// ParseValue reads VALUE of `settings set KEY VALUE`: a TOML literal or a bare word; checked against Table.
func ParseValue(key, text string) (any, error)                 { panic("pending") }
func Defaults(home string) Settings                            { panic("pending") }
func Load(path string, o Options) (Settings, []Problem, error) { panic("pending") }
