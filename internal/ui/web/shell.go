package web

import (
	"net/http"
	"slices"
)

// shellRoutes registers what every page has besides its content.
func (s *Site) shellRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /theme", s.formHandler(s.chooseTheme))
	mux.HandleFunc("GET /find", s.serveFind)
}

// cookieTheme is the cookie that keeps the theme of a browser.
const cookieTheme = "orange_theme"

// themes are the themes that a person can choose. The first follows the browser.
var themes = []string{"system", "light", "dark"}

// themeOf returns the theme that a browser keeps, "system" by default.
func themeOf(r *http.Request) string {
	if c, err := r.Cookie(cookieTheme); err == nil && slices.Contains(themes, c.Value) {
		return c.Value
	}
	return themes[0]
}

// Themes lists the themes for the menu.
func (page) Themes() []string { return themes }

// chooseTheme keeps the theme of a browser for a year.
func (s *Site) chooseTheme(w http.ResponseWriter, r *http.Request) error {
	theme := r.PostForm.Get("theme")
	if !slices.Contains(themes, theme) {
		return newRefusal(http.StatusBadRequest, "unknown theme: choose system, light or dark")
	}
	http.SetCookie(w, &http.Cookie{Name: cookieTheme, Value: theme, Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	s.finishForm(w, r, r.PostForm.Get("back"), "")
	return nil
}
