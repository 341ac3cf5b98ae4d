package clientsetup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"termic/internal/atomicfile"
	"termic/internal/fault"
)

// Receipt is what was done. It is kept in [Place.Records], so that Remove can give back what was there. Origin and Former
// may hold secrets of other programs: a receipt is never to be shown or logged.
type Receipt struct {
	Client string    `json:"client"`
	Act    string    `json:"act"`
	File   string    `json:"file"`
	Backup string    `json:"backup,omitempty"` // the copy that was put beside it; empty if there was nothing to copy
	At     time.Time `json:"at"`

	// Written is the SHA-256, in hexadecimal digits, of the file as we left it. If it is that still, what was there before
	// we first wrote comes back: Origin, or no file with Missing. Without Written the bytes from before are not known.
	Written string `json:"written,omitempty"`
	Origin  []byte `json:"origin,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	Folder  bool   `json:"folder,omitempty"` // the file's folder was made, too

	Entry  json.RawMessage `json:"entry,omitempty"`  // our entry as it was written
	Former []byte          `json:"former,omitempty"` // an entry of our name that was somebody else's, in the client's language
	Was    Was             `json:"was"`
}

// Was says what stood around our entry before it came, for when the file was changed by others since.
type Was struct {
	Flag string   `json:"flag,omitempty"` // of a switch that the client needs: none, false, true; empty if not known
	Made []string `json:"made,omitempty"` // tables that came with the entry or the switch
}

// Whether a switch was there.
const (
	flagNone = "none"
	flagOff  = "false"
	flagOn   = "true"
)

// fits reports whether the file is as we left it.
func (r *Receipt) fits(file string, doc []byte) bool {
	return r != nil && r.Written != "" && r.File == file && r.Written == digest(doc)
}

func digest(doc []byte) string {
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:])
}

func (p Place) receiptFile(id string) string { return filepath.Join(p.Records, id+".json") }

// receipt reads the receipt of a client. One that cannot be read is as good as none: Remove then asks more.
func (p Place) receipt(id string) *Receipt {
	doc, missing, err := readFile(p.receiptFile(id), maxReceipt)
	if err != nil || missing {
		return nil
	}
	r := &Receipt{}
	if json.Unmarshal(doc, r) != nil || r.Client != id {
		return nil
	}
	return r
}

func (p Place) keepReceipt(r Receipt) error {
	doc, err := json.Marshal(r)
	if err != nil {
		return fault.Wrap(err, fault.Internal, "The receipt of the registration cannot be written")
	}
	if err = os.MkdirAll(p.Records, 0o700); err == nil {
		err = atomicfile.WriteFile(p.receiptFile(r.Client), doc, 0o600, atomicfile.ExactMode())
	}
	if err != nil {
		return fault.Wrap(err, fault.Unavailable, "The receipt of the registration cannot be written to %s", p.Records).
			WithHint("Nothing was changed. Without it, unregistering could not give back what was there.")
	}
	return nil
}

// putReceiptBack undoes keepReceipt.
func (p Place) putReceiptBack(id string, old *Receipt) error {
	if old == nil {
		return p.dropReceipt(id)
	}
	return p.keepReceipt(*old)
}

func (p Place) dropReceipt(id string) error {
	if err := os.Remove(p.receiptFile(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.Unavailable, "The receipt %s cannot be removed", p.receiptFile(id))
	}
	return nil
}
