// Package web is the page on which people see and steer everything with a browser. It is
// served on this machine only, to whoever has the token, and is a client of the API like
// every other. Its pages are whole without JavaScript; the script keeps them up to date.
package web
