package api

// A Route is a route as tests see it.
type Route struct{ Method, Path, Who, Event string }

// Routes are all of them.
func Routes() []Route {
	var out []Route
	for _, rt := range allRoutes() {
		out = append(out, Route{rt.method, rt.path, string(rt.who), rt.work.event})
	}
	return out
}

// Enums are the types with few values, by name, and those that are not empty.
func Enums() map[string][]string {
	out := map[string][]string{}
	for t, list := range enumValues() {
		for _, v := range list {
			if v != "" {
				out[t.String()] = append(out[t.String()], v.(string))
			}
		}
	}
	return out
}

// CarriesOut says whether what comes with a new task is to be carried out.
var CarriesOut = carriesOut
