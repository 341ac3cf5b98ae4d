//go:build !darwin && !windows

package keyring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/godbus/dbus/v5"

	"termic/internal/secret"
)

// The names of the Secret Service, as its specification gives them.
const (
	serviceName  = "org.freedesktop.secrets"
	servicePath  = dbus.ObjectPath("/org/freedesktop/secrets")
	serviceFace  = "org.freedesktop.Secret.Service."
	collectFace  = "org.freedesktop.Secret.Collection."
	itemFace     = "org.freedesktop.Secret.Item."
	noObject     = dbus.ObjectPath("/") // stands for none, and for no question to the person
	defaultAlias = "default"
)

// service is the Secret Service on the bus of the session. It connects anew for each act, and leaves nothing open.
type service struct{ o Options }

func system(o Options) platform { return service{o} }

// address is where the session's bus is. None is started: a bus that only Termic knows would hold a keyring that nobody unlocks. Only
// sockets are connected to, since an address can also name a program to run.
func (s service) address() (string, error) {
	at := s.o.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if run := s.o.Getenv("XDG_RUNTIME_DIR"); at == "" && filepath.IsAbs(run) {
		if _, err := os.Stat(filepath.Join(run, "bus")); err == nil {
			at = "unix:path=" + dbus.EscapeBusAddressValue(filepath.Join(run, "bus"))
		}
	}
	for one := range strings.SplitSeq(at, ";") {
		if strings.HasPrefix(one, "unix:") {
			return one, nil
		}
	}
	return "", errors.New("the session has no bus")
}

// session is one connection and what the service calls it.
type session struct {
	bus  *dbus.Conn
	at   dbus.ObjectPath
	root dbus.BusObject
}

// sealed is a value on its way, in the form of the specification.
type sealed struct {
	Session    dbus.ObjectPath
	Parameters []byte
	Value      []byte
	Type       string
}

// with connects, runs fn and disconnects. The end of ctx ends the connection, and with it whatever waits on it.
func (s service) with(ctx context.Context, fn func(session) error) error {
	at, err := s.address()
	if err != nil {
		return err
	}
	bus, err := dbus.Dial(at, dbus.WithContext(ctx))
	if err != nil {
		return fmt.Errorf("connect to the bus: %w", err)
	}
	defer func() { _ = bus.Close() }() // everything was answered, or is given up
	if err := errors.Join(bus.Auth(nil), ctx.Err()); err != nil {
		return fmt.Errorf("connect to the bus: %w", err)
	}
	if err := bus.Hello(); err != nil {
		return fmt.Errorf("connect to the bus: %w", err)
	}
	in := session{bus: bus, root: bus.Object(serviceName, servicePath)}
	var nothing dbus.Variant
	// "plain": the bus is a socket of this user, and the value is on its way to that user's programs.
	if err := in.root.CallWithContext(ctx, serviceFace+"OpenSession", 0, "plain", dbus.MakeVariant("")).Store(&nothing, &in.at); err != nil {
		return fmt.Errorf("open a session of the keyring: %w", err)
	}
	return fn(in)
}

// attributes are by what an item is found.
func (s service) attributes(name string) map[string]string {
	return map[string]string{"application": "termic", "profile": s.o.Profile, "name": name}
}

func (s service) set(ctx context.Context, name string, value secret.String) error {
	return s.with(ctx, func(in session) error {
		var to dbus.ObjectPath
		if err := in.root.CallWithContext(ctx, serviceFace+"ReadAlias", 0, defaultAlias).Store(&to); err != nil {
			return fmt.Errorf("look for the keyring: %w", err)
		}
		if to == noObject {
			return errors.New("there is no default keyring")
		}
		if err := in.unlocked(ctx, to); err != nil {
			return err
		}
		properties := map[string]dbus.Variant{itemFace + "Label": dbus.MakeVariant("Termic: " + name), itemFace + "Attributes": dbus.MakeVariant(s.attributes(name))}
		var item, question dbus.ObjectPath
		err := in.bus.Object(serviceName, to).CallWithContext(ctx, collectFace+"CreateItem", 0, properties,
			sealed{in.at, []byte{}, []byte(value.Reveal()), "text/plain"}, true).Store(&item, &question)
		if err != nil {
			return fmt.Errorf("keep a value: %w", err)
		}
		return unasked(question)
	})
}

// unlocked refuses what would need the person to answer first.
func (in session) unlocked(ctx context.Context, what dbus.ObjectPath) error {
	var open []dbus.ObjectPath
	var question dbus.ObjectPath
	if err := in.root.CallWithContext(ctx, serviceFace+"Unlock", 0, []dbus.ObjectPath{what}).Store(&open, &question); err != nil {
		return fmt.Errorf("look whether the keyring is open: %w", err)
	}
	return unasked(question)
}

func unasked(question dbus.ObjectPath) error {
	if question != noObject {
		return errors.New("the keyring is locked")
	}
	return nil
}

// find is the item of a name.
func (s service) find(ctx context.Context, in session, name string) (dbus.BusObject, error) {
	var open, locked []dbus.ObjectPath
	if err := in.root.CallWithContext(ctx, serviceFace+"SearchItems", 0, s.attributes(name)).Store(&open, &locked); err != nil {
		return nil, fmt.Errorf("look for a value: %w", err)
	}
	switch {
	case len(open) > 0:
		return in.bus.Object(serviceName, open[0]), nil
	case len(locked) == 0:
		return nil, errAbsent
	}
	return in.bus.Object(serviceName, locked[0]), in.unlocked(ctx, locked[0])
}

func (s service) get(ctx context.Context, name string) (value secret.String, err error) {
	err = s.with(ctx, func(in session) error {
		item, err := s.find(ctx, in, name)
		if err != nil {
			return err
		}
		var got sealed
		if err := item.CallWithContext(ctx, itemFace+"GetSecret", 0, in.at).Store(&got); err != nil {
			return fmt.Errorf("read a value: %w", err)
		}
		value = secret.Of(string(got.Value))
		return nil
	})
	return value, err
}

func (s service) delete(ctx context.Context, name string) error {
	return s.with(ctx, func(in session) error {
		item, err := s.find(ctx, in, name)
		if err != nil {
			return err
		}
		var question dbus.ObjectPath
		if err := item.CallWithContext(ctx, itemFace+"Delete", 0).Store(&question); err != nil {
			return fmt.Errorf("forget a value: %w", err)
		}
		return unasked(question)
	})
}
