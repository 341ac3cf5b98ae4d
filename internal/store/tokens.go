package store

import (
	"context"

	"termic/internal/fault"
	"termic/internal/ids"
)

// MaxTokens is how many named tokens there may be.
const MaxTokens = 256

const tokenColumns = `id, name, scope, everywhere, projects, created`

func scanToken(row scanner) (Token, error) {
	var v Token
	var created int64
	var projects string
	if err := row.Scan(&v.ID, &v.Name, &v.Scope, &v.Everywhere, &projects, &created); err != nil {
		return Token{}, err
	}
	v.Created = unstamp(created)
	return v, unlists(lists{{projects, &v.Projects}})
}

func noToken() error { return fault.New(fault.NotFound, "There is no such token") }

// Token returns a named token, without regard to ASCII case.
func (r Reader) Token(ctx context.Context, name string) (Token, error) {
	return one(ctx, r, scanToken, noToken(), `SELECT `+tokenColumns+` FROM tokens WHERE name = ?`, name)
}

// Tokens returns the named tokens, by name.
func (r Reader) Tokens(ctx context.Context) ([]Token, error) {
	return many(ctx, r, scanToken, `SELECT `+tokenColumns+` FROM tokens ORDER BY name`)
}

// AddToken stores a token. A name that another one has, and one more than MaxTokens, are conflicts.
func (t *Tx) AddToken(ctx context.Context, v Token) (Token, error) {
	have, err := t.Tokens(ctx)
	if err != nil {
		return Token{}, err
	}
	if len(have) >= MaxTokens {
		return Token{}, fault.New(fault.Conflict, "There are %d tokens, and no more can be kept", len(have)).WithHint("Revoke some that nobody uses.")
	}
	if old, err := t.Token(ctx, v.Name); err == nil {
		return Token{}, fault.New(fault.Conflict, "There is a token called %q", old.Name).WithHint("Take another name, or revoke that one first.")
	} else if fault.CodeOf(err) != fault.NotFound {
		return Token{}, err
	}
	if v.Created.IsZero() {
		v.Created = t.now()
	}
	v.ID, v.Created = ids.New(), unstamp(stamp(v.Created))
	texts, err := tokenTexts(v)
	if err != nil {
		return Token{}, err
	}
	_, err = t.q.ExecContext(ctx, `INSERT INTO tokens (`+tokenColumns+`) VALUES (?,?,?,?,?,?)`, v.ID, v.Name, v.Scope, v.Everywhere, texts[0], stamp(v.Created))
	return v, err
}

// UpdateToken changes the scope and the projects of a token.
func (t *Tx) UpdateToken(ctx context.Context, name string, fn func(*Token) error) (Token, error) {
	v, err := t.Token(ctx, name)
	if err != nil {
		return Token{}, err
	}
	if err := fn(&v); err != nil {
		return Token{}, err
	}
	texts, err := tokenTexts(v)
	if err != nil {
		return Token{}, err
	}
	_, err = t.q.ExecContext(ctx, `UPDATE tokens SET scope = ?, everywhere = ?, projects = ? WHERE name = ?`, v.Scope, v.Everywhere, texts[0], name)
	return v, err
}

// DeleteToken forgets a token. One that is not there is fault.NotFound.
func (t *Tx) DeleteToken(ctx context.Context, name string) error {
	if _, err := t.Token(ctx, name); err != nil {
		return err
	}
	_, err := t.q.ExecContext(ctx, `DELETE FROM tokens WHERE name = ?`, name)
	return err
}

// tokenTexts checks what is about to be stored and writes its list down.
func tokenTexts(v Token) ([]string, error) {
	if err := limit("name of a token", v.Name, MaxName); err != nil {
		return nil, err
	}
	return listTexts(v.Projects)
}
