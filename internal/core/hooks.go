package core

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"termic/internal/api"
	"termic/internal/fault"
	"termic/internal/keyring"
	"termic/internal/secret"
	"termic/internal/store"
)

// Bounds of signed requests. The window is that in which clocks differ and networks are slow; what is older is somebody's replay.
const (
	MaxHookBody   = 64 << 10
	HookWindow    = 5 * time.Minute
	maxHookKey    = 4 << 10  // bytes of the file of a secret
	HookMinute    = 60       // requests of one hook in a minute: more would only drive out what else happened
	maxHookText   = 16 << 10 // bytes of a body that are kept with the event
	maxHookFields = 16       // simple fields of a JSON body that triggers can ask for
	maxHookField  = 100      // bytes of one
)

// ErrHook is the one answer to a request that is not signed as it should be, or for a name that there is not.
var ErrHook = fault.New(fault.Forbidden, "The request is not signed for this hook").
	WithHint("Termic-Timestamp is the time in seconds since 1970, and Termic-Signature is sha256= and the HMAC of that time, a full stop and the body, by the secret of the hook.")

// HookAdd is the verb hook_add. The secret must be known to compute with, so it lies in a file that the user alone can read.
func (c *Core) HookAdd(ctx context.Context, _ *Call, p api.HookParams) (api.HookAddResult, error) {
	if err := checkPlainName("hook", p.Name); err != nil {
		return api.HookAddResult{}, err
	}
	release, err := c.hold(ctx, "hooks:")
	if err != nil {
		return api.HookAddResult{}, err
	}
	defer release()
	value := secret.Mint()
	var h store.Hook
	err = c.store.Write(ctx, func(tx *store.Tx) (err error) {
		if h, err = tx.AddHook(ctx, p.Name); err != nil {
			return err
		}
		return keyring.WriteOwn(c.hookFile(h.Name), []byte(value.Reveal()+"\n"))
	})
	if err != nil {
		return api.HookAddResult{}, err
	}
	c.beacon.change()
	return api.HookAddResult{Hook: c.viewHook(h), Secret: value.Reveal()}, nil
}

// HookList is the verb hook_list.
func (c *Core) HookList(ctx context.Context, _ *Call, _ api.HookListParams) (api.HookListResult, error) {
	list, err := c.store.Hooks(ctx)
	out := make([]api.Hook, len(list))
	for i, h := range list {
		out[i] = c.viewHook(h)
	}
	return api.HookListResult{Hooks: out}, err
}

// HookDelete is the verb hook_delete.
func (c *Core) HookDelete(ctx context.Context, _ *Call, p api.HookParams) (api.HookDeleteResult, error) {
	release, err := c.hold(ctx, "hooks:")
	if err != nil {
		return api.HookDeleteResult{}, err
	}
	defer release()
	h, err := c.store.Hook(ctx, p.Name)
	if err != nil {
		return api.HookDeleteResult{}, err
	}
	if err := os.Remove(c.hookFile(h.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return api.HookDeleteResult{}, fault.Wrap(err, fault.Unavailable, "The secret of the hook %q cannot be removed from %s", h.Name, c.hookFile(h.Name))
	}
	if err := c.store.Write(ctx, func(tx *store.Tx) error { return tx.DeleteHook(ctx, h.Name) }); err != nil {
		return api.HookDeleteResult{}, err
	}
	c.beacon.change()
	return api.HookDeleteResult{Name: h.Name}, nil
}

func (c *Core) hookFolder() string { return filepath.Join(c.dataDir, "hooks") }

// hookFile is where the secret of a hook lies. Names are made of letters, digits, - and _ alone.
func (c *Core) hookFile(name string) string { return filepath.Join(c.hookFolder(), name) }

func (c *Core) viewHook(h store.Hook) api.Hook {
	v := api.Hook{Name: h.Name, File: c.hookFile(h.Name), Created: stamp(h.Created)}
	if c.webURL != nil {
		if base := c.webURL(); base != "" {
			v.URL = strings.TrimSuffix(base, "/") + "/api/v1/hooks/" + h.Name
		}
	}
	return v
}

// TakeHook takes a signed request in and makes an event of it. The same request once more gives the same event and nothing follows from
// it. ErrHook is the answer to everything that is not signed, whatever is wrong, and takes as long whether there is such a hook or not.
func (c *Core) TakeHook(ctx context.Context, name, at, signature string, body []byte) (event string, repeated bool, err error) {
	if len(body) > MaxHookBody {
		return "", false, fault.New(fault.InvalidArgument, "The body is longer than %d bytes", MaxHookBody)
	}
	h, key := c.hookKey(ctx, name)
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(at + "."))
	_, _ = mac.Write(body)
	want := mac.Sum(nil)
	given, herr := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	seconds, terr := strconv.ParseInt(at, 10, 64)
	signed := hmac.Equal(want, given) && herr == nil && terr == nil && strings.HasPrefix(signature, "sha256=")
	if !signed || h.Name == "" {
		return "", false, ErrHook
	}
	if off := c.clock.wall().Sub(time.Unix(seconds, 0)); off > HookWindow || off < -HookWindow {
		return "", false, ErrHook
	}
	release, err := c.hold(ctx, "hook:"+h.Name) // of many that come at once, each is counted
	if err != nil {
		return "", false, err
	}
	defer release()
	n, err := c.store.EventsSince(ctx, store.EventWebhook, h.Name, c.clock.wall().Add(-time.Minute))
	if err == nil && n >= HookMinute {
		err = fault.New(fault.Unavailable, "%d requests came for the hook within a minute, the most that are taken", n).WithHint("Send fewer, or gather them.")
	}
	if err != nil {
		return "", false, err
	}
	once := "hook:" + h.Name + ":" + at + ":" + hex.EncodeToString(want)
	e, err := c.tell(ctx, store.Event{Kind: store.EventWebhook, Subject: h.Name, Facts: fitting(hookFacts(body)), Once: once})
	if errors.Is(err, store.ErrRepeated) {
		e, err = c.store.EventOnce(ctx, once)
		return e.ID, true, err
	}
	return e.ID, false, err
}

// hookKey is a hook with its secret; a secret that nobody knows, for a name that is none.
func (c *Core) hookKey(ctx context.Context, name string) (store.Hook, []byte) {
	unknown := []byte(secret.Mint().Reveal())
	if checkPlainName("hook", name) != nil {
		return store.Hook{}, unknown
	}
	h, err := c.store.Hook(ctx, name)
	if err != nil {
		return store.Hook{}, unknown
	}
	key, err := keyring.ReadOwn(c.hookFile(h.Name), maxHookKey)
	if key = []byte(strings.TrimSpace(string(key))); err != nil || len(key) < 32 {
		c.log.Warn("the secret of a hook cannot be read", "hook", h.Name, "err", err)
		return store.Hook{}, unknown
	}
	return h, key
}

// hookFacts is what is kept of a body: its text as far as it goes, and the simple fields of a JSON object, for triggers to ask for.
func hookFacts(body []byte) map[string]any {
	facts := map[string]any{"bytes": len(body)}
	text := body
	if len(text) > maxHookText {
		text, facts["truncated"] = text[:maxHookText], true
	}
	if utf8.Valid(body) {
		facts["body"] = strings.ToValidUTF8(string(text), "")
	} else {
		facts["binary"] = true
	}
	var fields map[string]any
	if json.Unmarshal(body, &fields) != nil {
		return facts
	}
	n := 0
	for _, name := range sortedKeys(fields) {
		switch v := fields[name].(type) {
		case bool, float64:
		case string:
			if len(v) > maxHookField {
				continue
			}
		default:
			continue
		}
		if n++; n > maxHookFields || len(name) > maxHookField {
			break
		}
		facts["body."+name] = fields[name]
	}
	return facts
}

// fitting cuts the text of a body until the facts can be kept: as JSON, a byte of it may be six.
func fitting(facts map[string]any) map[string]any {
	for {
		raw, err := json.Marshal(facts)
		text, _ := facts["body"].(string)
		if err != nil || len(raw) <= store.MaxFacts || text == "" {
			return facts
		}
		facts["body"], facts["truncated"] = strings.ToValidUTF8(text[:len(text)/2], ""), true
	}
}
