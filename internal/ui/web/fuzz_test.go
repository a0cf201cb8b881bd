package web_test

import (
	"io"
	"net/url"
	"orange/internal/core/task"
	"strings"
	"testing"
)

// FuzzForms sends any form to every page that takes one, as a page of the session does.
func FuzzForms(f *testing.F) {
	w := newBackend(f)
	const id = "A0000000000000000000a"
	w.add(task.Task{ID: id, Project: "shop", Branch: "b", Status: "pending"})
	h := newEnv(f, w)
	v := h.visitor(f)
	v.formRequest("/", url.Values{})
	places := []string{"/act/" + id, "/new", "/tasks/" + id + "/review", "/tasks/" + id + "/type", "/workflows/none/verify", "/workflows/none/simulate", "/pause", "/resume"}
	for i, seed := range []string{
		"", "do=pause&back=/", "do=answer&note=blue", "do=move&to=done&back=//evil.example", "project=shop&summary=s&branch=b&harness=claude", "remark=x&file=a&line=-1",
		"%zz", "do=%00", "a=b;c=d", "text=y%0d", "max_states=1e9&tasks=-1",
	} {
		f.Add(uint8(i), seed)
		f.Add(uint8(3*i), seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, form string) {
		v := &visitor{t: t, env: h, client: v.client, cookies: v.cookies, csrf: v.csrf}
		path := places[int(which)%len(places)]
		r := v.request("POST", path, form+"&_csrf="+url.QueryEscape(v.csrf))
		r.Header.Set("Origin", "http://"+h.addr)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Orange-Csrf", v.csrf)
		for _, c := range v.cookies {
			r.AddCookie(c)
		}
		res, err := v.client.Do(r.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == 500 && strings.Contains(string(body), "panic") {
			t.Errorf("%s %q: %s", path, form, body)
		}
		if to := res.Header.Get("Location"); to != "" && (!strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\")) {
			t.Errorf("%s %q leads to %q", path, form, to)
		}
		if strings.Contains(string(body), token) || strings.Contains(string(body), "<script>") {
			t.Errorf("%s %q: %s", path, form, body)
		}
	})
}
