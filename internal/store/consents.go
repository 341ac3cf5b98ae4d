package store

import (
	"context"

	"termic/internal/fault"
)

func scanConsent(row scanner) (Consent, error) {
	var v Consent
	var created int64
	err := row.Scan(&v.ProjectID, &v.Digest, &created)
	v.Created = unstamp(created)
	return v, err
}

// Consent returns what the owner agreed to for a project; ok is false where that is nothing.
func (r Reader) Consent(ctx context.Context, projectID string) (v Consent, ok bool, err error) {
	none := fault.New(fault.NotFound, "Nothing was agreed to for this project")
	v, err = one(ctx, r, scanConsent, none, `SELECT project_id, digest, created FROM consents WHERE project_id = ?`, projectID)
	if fault.CodeOf(err) == fault.NotFound {
		return Consent{}, false, nil
	}
	return v, err == nil, err
}

// SetConsent agrees to a content, in place of what was agreed to before. An empty digest takes the consent back.
func (t *Tx) SetConsent(ctx context.Context, projectID, digest string) error {
	if err := limit("digest", digest, MaxName); err != nil {
		return err
	}
	if _, err := t.q.ExecContext(ctx, `DELETE FROM consents WHERE project_id = ?`, projectID); err != nil || digest == "" {
		return err
	}
	if _, err := t.Project(ctx, projectID); err != nil {
		return err
	}
	_, err := t.q.ExecContext(ctx, `INSERT INTO consents (project_id, digest, created) VALUES (?,?,?)`, projectID, digest, stamp(t.now()))
	return err
}
