package keyring

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"termic/internal/childproc"
	"termic/internal/secret"
)

// keychain is the login keychain of macOS, through the system's own tool. Values go to it by standard input and in base64, so that
// none is an argument and none has to be quoted.
type keychain struct{ o Options }

func system(o Options) platform { return keychain{o} }

const tool = "/usr/bin/security"

// absentExit is what the tool exits with when there is no such item: errSecItemNotFound, in eight bits.
const absentExit = 44

// commandMost is the longest line that the tool reads of standard input, less than its 4096 bytes to be sure.
const commandMost = 4000

// account tells values of one profile from those of another.
func (k keychain) account(name string) string {
	return name + " " + base64.RawURLEncoding.EncodeToString([]byte(k.o.Profile))
}

func (k keychain) run(ctx context.Context, stdin string, args ...string) (string, error) {
	env := []string{"HOME=" + k.o.Getenv("HOME"), "PATH=/usr/bin:/bin"} // the home has the keychain
	res, err := childproc.Run(ctx, childproc.Cmd{Path: tool, Args: args, Env: env, Stdin: strings.NewReader(stdin), Grace: time.Second})
	switch {
	case err != nil:
		return "", fmt.Errorf("run %s: %w", tool, err)
	case res.Code == absentExit:
		return "", errAbsent
	case res.Code != 0:
		return "", fmt.Errorf("%s ended with %d", tool, res.Code)
	}
	return string(res.Stdout), nil
}

func (k keychain) set(ctx context.Context, name string, value secret.String) error {
	line := fmt.Sprintf("add-generic-password -U -s termic -a %q -w %q\n", k.account(name), base64.StdEncoding.EncodeToString([]byte(value.Reveal())))
	if len(line) > commandMost {
		return errors.New("the value is too long for the keychain's tool")
	}
	if _, err := k.run(ctx, line, "-i"); err != nil {
		return err
	}
	// The tool exits well whatever its lines came to.
	back, err := k.get(ctx, name)
	if err == nil && !back.Equal(value.Reveal()) {
		err = errors.New("the keychain holds something else than what it was given")
	}
	return err
}

func (k keychain) get(ctx context.Context, name string) (secret.String, error) {
	out, err := k.run(ctx, "", "find-generic-password", "-s", "termic", "-a", k.account(name), "-w")
	if err != nil {
		return secret.String{}, err
	}
	value, err := base64.StdEncoding.DecodeString(strings.TrimSpace(out))
	if err != nil {
		return secret.String{}, errors.New("what the keychain holds was not written by Termic")
	}
	return secret.Of(string(value)), nil
}

func (k keychain) delete(ctx context.Context, name string) error {
	_, err := k.run(ctx, "", "delete-generic-password", "-s", "termic", "-a", k.account(name))
	return err
}
