package cli

import "termic/internal/api"

func showUpdate(p *printer, r api.UpdateResult) {
	p.printf("%s.\n", updateWords(r))
	if r.Page != "" {
		p.printf("%s\n", clean(r.Page))
	}
	if r.State == api.UpdatesNewer {
		p.note("Get it as you got this one: Termic does not replace itself.")
	}
	if r.Error != "" {
		p.note("%s.", clean(r.Error))
	}
	if r.Hint != "" {
		p.note("%s", clean(r.Hint))
	}
	if r.State == api.UpdatesOff {
		p.note("`termic settings set updates.check true` switches it on.")
	}
}

// updateWords say in a sentence how it stands with newer releases.
func updateWords(r api.UpdateResult) string {
	this, latest := "this is Termic "+clean(r.Version), "Termic "+clean(r.Latest)
	switch r.State {
	case api.UpdatesNewer:
		return latest + " is out; this is " + clean(r.Version)
	case api.UpdatesCurrent:
		return "There was no newer release at " + clean(r.Found) + "; " + this
	case api.UpdatesUnknown:
		return latest + " is the newest release; this build, " + clean(r.Version) + ", has no version to compare it with"
	case api.UpdatesUnasked:
		return "Nothing is known of newer releases yet; " + this
	case api.UpdatesUnset:
		return "Newer releases cannot be asked for; " + this
	}
	return "Newer releases are not asked for; " + this
}
