package web

import (
	"io/fs"
	"net/http"
	"path"
	"strings"

	"termic/internal/inlet"
)

// pageFile is what / shows. The window's own page is not served: it calls what only the owner may.
const pageFile = "web.html"

// page serves the built page: what / shows, and the files that it loads.
func (s *Server) page() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			w.Header().Set("Connection", "close")
			inlet.Bare(w, http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		switch {
		case name == "":
			name = pageFile
			w.Header().Set("Cache-Control", "no-store")
		case !strings.HasPrefix(name, "assets/"):
			inlet.Bare(w, http.StatusNotFound)
			return
		default:
			w.Header().Set("Cache-Control", "max-age=31536000, immutable") // their names hold a digest of them
		}
		if s.o.Page == nil {
			http.Error(w, "This build of Termic has no page for browsers. The API answers below "+Prefix, http.StatusNotFound)
			return
		}
		if st, err := fs.Stat(s.o.Page, name); err != nil || st.IsDir() {
			inlet.Bare(w, http.StatusNotFound)
			return
		}
		http.ServeFileFS(w, r, s.o.Page, name)
	})
}
