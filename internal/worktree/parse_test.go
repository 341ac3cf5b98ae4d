package worktree

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"termic/internal/api"
	"termic/internal/fault"
)

const (
	id1 = "1111111111111111111111111111111111111111"
	id2 = "2222222222222222222222222222222222222222"
)

func TestParseList(t *testing.T) {
	out := "worktree /r\x00HEAD " + id1 + "\x00branch refs/heads/main\x00\x00" +
		"worktree /a b\nHEAD c\x00HEAD " + id2 + "\x00detached\x00locked on a\nstick\x00\x00" +
		"worktree /gone\x00HEAD " + id1 + "\x00branch refs/heads/feat/é\x00prunable gitdir file points to non-existent location\x00future thing\x00\x00"
	got, err := parseList(out, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{Path: "/r", Head: id1, Branch: "main", Main: true},
		{Path: "/a b\nHEAD c", Head: id2, Detached: true, Locked: true, LockReason: "on a\nstick"},
		{Path: "/gone", Head: id1, Branch: "feat/é", Prunable: true, PruneReason: "gitdir file points to non-existent location"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	old := "worktree /bare.git\nbare\n\nworktree /a\nb\nHEAD " + id1 + "\nbranch refs/heads/x\n\n"
	got, err = parseList(old, '\n')
	if err != nil {
		t.Fatal(err)
	}
	want = []Entry{{Path: "/bare.git", Bare: true, Main: true}, {Path: "/a\nb", Head: id1, Branch: "x"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("without -z: %+v", got)
	}
	for _, bad := range []string{"HEAD " + id1 + "\x00\x00", "worktree \x00\x00", "worktree\x00\x00"} {
		if e, err := parseList(bad, 0); err == nil {
			t.Errorf("%q gave %+v", bad, e)
		}
	}
}

func FuzzWorktreeList(f *testing.F) {
	f.Add("worktree /r\x00HEAD "+id1+"\x00branch refs/heads/main\x00\x00", true)
	f.Add("worktree /r\nbare\n\nworktree /a\nb\nHEAD "+id1+"\ndetached\nlocked\n\n", false)
	f.Add("\x00\x00worktree \x00", true)
	f.Fuzz(func(t *testing.T, out string, nul bool) {
		sep := byte('\n')
		if nul {
			sep = 0
		}
		list, err := parseList(out, sep)
		if err != nil {
			return
		}
		for i, e := range list {
			if e.Path == "" || e.Main != (i == 0) {
				t.Errorf("entry %d of %q: %+v", i, out, e)
			}
			if nul && !strings.Contains(out, "worktree "+e.Path) {
				t.Errorf("%q is not in %q", e.Path, out)
			}
		}
		if nul { // what was understood, written again, is understood the same
			var b strings.Builder
			for _, e := range list {
				b.WriteString(render(e))
			}
			again, err := parseList(b.String(), 0)
			if err != nil || !reflect.DeepEqual(list, again) {
				t.Errorf("%+v became %+v (%v)", list, again, err)
			}
		}
	})
}

// render writes an entry as git does.
func render(e Entry) string {
	s := "worktree " + e.Path + "\x00"
	for _, a := range []struct {
		on   bool
		text string
	}{{e.Head != "", "HEAD " + e.Head}, {e.Branch != "", "branch refs/heads/" + e.Branch}, {e.Bare, "bare"}, {e.Detached, "detached"},
		{e.Locked, strings.TrimSuffix("locked "+e.LockReason, " ")}, {e.Prunable, strings.TrimSuffix("prunable "+e.PruneReason, " ")}} {
		if a.on {
			s += a.text + "\x00"
		}
	}
	return s + "\x00"
}

func TestParseStatus(t *testing.T) {
	out := strings.Join([]string{"# branch.oid " + id1, "# branch.head feat/x y", "# branch.upstream origin/x", "# branch.ab +3 -4", "# future thing",
		"1 .M N... 100644 100644 100644 " + id1 + " " + id1 + " a b",
		"1 A. N... 000000 100644 100644 " + id1 + " " + id1 + " new\nline",
		"2 R. N... 100644 100644 100644 " + id1 + " " + id1 + " R100 to", "from a",
		"u UU N... 100644 100644 100644 100644 " + id1 + " " + id1 + " " + id1 + " both",
		"1 .M S.M. 160000 160000 160000 " + id1 + " " + id1 + " sub",
		"? loose \"x\"", "! ignored"}, "\x00") + "\x00"
	s, err := parseStatus(out)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "head", s.Head+" "+s.Branch+" "+s.Upstream, id1+" feat/x y origin/x")
	same(t, "numbers", [6]int{s.Ahead, s.Behind, s.Staged, s.Unstaged, s.Untracked, s.Conflicted}, [6]int{3, 4, 2, 2, 1, 1})
	want := []FileStatus{{Path: "a b", Index: '.', Worktree: 'M'}, {Path: "new\nline", Index: 'A', Worktree: '.'},
		{Path: "to", OldPath: "from a", Index: 'R', Worktree: '.'}, {Path: "both", Index: 'U', Worktree: 'U', Conflict: true},
		{Path: "sub", Index: '.', Worktree: 'M', Submodule: true}, {Path: "loose \"x\"", Index: '?', Worktree: '?'}}
	same(t, "HEAD", s.files[1].head, entry{"000000", id1, "new\nline"})
	same(t, "index", s.files[2].index, entry{"100644", id1, "to"})
	for i := range s.files {
		s.files[i].head, s.files[i].index = entry{}, entry{}
	}
	if !reflect.DeepEqual(s.files, want) {
		t.Errorf("files %+v", s.files)
	}
	for _, bad := range []string{"1 .M N...\x00", "2 R. N... 100644 100644 100644 a b R100 to\x00", "x\x00", "?\x00", "? \x00", "a\x00\x00b\x00",
		"1 M N... 1 1 1 a b p\x00"} {
		if s, err := parseStatus(bad); err == nil {
			t.Errorf("%q gave %+v", bad, s)
		}
	}
}

func FuzzStatusPorcelain(f *testing.F) {
	f.Add("# branch.oid " + id1 + "\x00# branch.head main\x00# branch.ab +1 -2\x001 .M N... 100644 100644 100644 " + id1 + " " + id1 + " a b\x00? x\x00")
	f.Add("2 R. N... 100644 100644 100644 " + id1 + " " + id1 + " R100 to\x00from\x00u UU N... 1 2 3 4 a b c both\x00! i\x00")
	f.Add("# branch.oid (initial)\x00# branch.head (detached)\x00")
	f.Fuzz(func(t *testing.T, out string) {
		s, err := parseStatus(out)
		if err != nil {
			return
		}
		if s.Dirty() > strings.Count(out, "\x00")+1 {
			t.Errorf("%d files in %q", s.Dirty(), out)
		}
		untracked, conflicted := 0, 0
		for _, f := range s.files {
			if f.Path == "" || !strings.Contains(out, f.Path) || (f.OldPath != "" && !strings.Contains(out, f.OldPath)) {
				t.Errorf("%+v is not in %q", f, out)
			}
			if f.Index == '?' && f.Worktree == '?' && !f.Conflict {
				untracked++
			}
			if f.Conflict {
				conflicted++
			}
		}
		if untracked < s.Untracked || conflicted != s.Conflicted || s.Staged+s.Unstaged > 2*len(s.files) {
			t.Errorf("counts %d %d %d %d of %+v", s.Untracked, s.Conflicted, s.Staged, s.Unstaged, s.files)
		}
	})
}

func FuzzDiff(f *testing.F) {
	f.Add(":100644 100644 " + id1 + " " + id2 + " M\x00a b\x00:100644 100644 " + id1 + " " + id1 + " R100\x00old\x00new\x001\t2\ta b\x000\t0\t\x00old\x00new\x00")
	f.Add(":000000 100644 0 0 A\x00x\x00-\t-\tx\x00")
	f.Fuzz(func(t *testing.T, out string) {
		files, err := parseDiff(out)
		if err != nil {
			return
		}
		for _, f := range files {
			if f.Path == "" || f.Status == "" || f.Insertions < 0 || f.Deletions < 0 {
				t.Errorf("%+v of %q", f, out)
			}
		}
	})
}

func TestParseDiffRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, bad := range []string{":1 2 a b\x00p\x00", ":1 2 a b Z\x00p\x00", ":1 2 a b M\x00", ":1 2 a b R100\x00old\x00", "1\t2\tunlisted\x00", "words\x00",
		":1 2 a b M\x00p\x00x\t2\tp\x00", ":1 2 a b M\x00p\x001\t2\t\x00old\x00"} {
		if files, err := parseDiff(bad); err == nil {
			t.Errorf("%q gave %+v", bad, files)
		}
	}
	files, err := parseDiff(":100644 000000 a b U\x00p\x00:100644 100644 a b M\x00p\x003\t1\tp\x00")
	if err != nil || len(files) != 1 || files[0] != (api.FileChange{Path: "p", Status: "unmerged", Insertions: 3, Deletions: 1}) {
		t.Errorf("unmerged: %+v, %v", files, err)
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{"Fix login": "fix-login", "feat/x": "feat-x", "a.b_c": "a-b-c", "Übergrößen": "übergrößen", "日本 語": "日本-語",
		"--force": "force", "e\u0301te\u0301": "e\u0301te\u0301", "x\u0301": "x\u0301", "1": "1", strings.Repeat("long ", 40): strings.Repeat("long-", 11) + "long"} {
		got, err := Slug(name)
		if err != nil || got != want {
			t.Errorf("Slug(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"", "../", "...", "/", " ", "-", "\u0301", "!?", "\x00", "..", "🙂"} {
		got, err := Slug(name)
		if err == nil {
			t.Errorf("Slug(%q) = %q", name, got)
		} else if fault.CodeOf(err) != fault.InvalidArgument {
			t.Error(err)
		}
		if b := BranchFor("feature", name); b != "" {
			t.Errorf("BranchFor(%q) = %q", name, b)
		}
	}
	for in, want := range map[[2]string]string{{"feature", "Fix login"}: "feature/fix-login", {"", "x"}: "x", {"feature/", "fix/Login form"}: "fix/login-form",
		{"a/b", "c"}: "a/b/c", {"feature", "../x"}: "feature/x", {"", "HEAD"}: "head-1"} {
		if got := BranchFor(in[0], in[1]); got != want {
			t.Errorf("BranchFor(%q, %q) = %q, want %q", in[0], in[1], got, want)
		}
	}
}

// Law: a slug is one safe path element, whatever the name; and a derived branch is one that checkBranch takes.
func TestPropertyNames(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-./@{}~^:?*\[\\ a-zA-ZäÉ.lock]{0,80}`)).Draw(rt, "name")
		s, err := Slug(name)
		if err != nil {
			return
		}
		if s == "" || len(s) > maxSlug || strings.ContainsAny(s, "/\\\x00. ") || strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || !utf8.ValidString(s) {
			rt.Fatalf("Slug(%q) = %q", name, s)
		}
		if again, err := Slug(s); err != nil || again != s {
			rt.Fatalf("the slug of %q is %q", s, again)
		}
		if b := BranchFor(rapid.String().Draw(rt, "prefix"), name); len(b) <= 200 && checkBranch(b) != nil {
			rt.Fatalf("BranchFor made %q: %v", b, checkBranch(b))
		}
	})
}

// checkBranch must not let through what git refuses, nor refuse a name that a person may well have typed.
func TestCheckBranchAgreesWithGit(t *testing.T) {
	w := newWorld(t)
	words := []string{"a", "fix/login", "é", "日本", "a-b", "a_b", "a.b", "x/y/z", "UPPER", "a@b", "a{b}", "a#b", "a'b", "a\"b", "a$b", "a;b", "a&b", "a(b)", "a!b", "a%b", "a,b", "a=b", "a+b",
		"", "/", "a/", "/a", "a//b", ".a", "a/.b", "a..b", "a.lock", "a.lock/b", "a.", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a b", "a\tb", "a\x7fb", "@", "a@{b", "a.lock.", "@a", "a@"}
	for _, name := range words {
		_, gitErr := w.try(w.dir, "check-ref-format", "refs/heads/"+name)
		ours := checkBranch(name)
		if name == "@" { // fine as a ref, but no name that a command line could say
			gitErr = ours
		}
		if (gitErr == nil) != (ours == nil) {
			t.Errorf("%q: git %v, ours %v", name, gitErr, ours)
		}
	}
}

func TestCopyIndexKeepsItsTime(t *testing.T) {
	w := newWorld(t)
	dir := w.repo("r")
	r := w.open(dir)
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	w.must(os.Chtimes(filepath.Join(dir, ".git", "index"), old, old))
	index, done, err := copyIndex(r.here())
	w.must(err)
	defer done()
	st, err := os.Stat(index)
	w.must(err)
	if !st.ModTime().Equal(old) {
		t.Errorf("the copy is of %s, the index of %s", st.ModTime(), old)
	}
}
