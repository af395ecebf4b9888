package main

import (
	"pmx/engine"
	"pmx/http/acme"
)

// acmeFlags say which certificates are ordered, and where.
type acmeFlags struct {
	ACMEDomain    []string `name:"acme-domain" help:"Order and renew a TLS certificate for this host name, by ACME; may be repeated. Clients and the authority have to reach the server under it on port 443. By giving it you agree to the terms of the authority." placeholder:"HOST"`
	ACMEEmail     string   `name:"acme-email" help:"Where the authority writes to about the certificates." placeholder:"ADDRESS"`
	ACMEDirectory string   `name:"acme-directory" help:"ACME directory of the authority, an https:// URL. The default is Let's Encrypt." default:"${acme}" placeholder:"URL"`
}

// orders is what a server in a data directory is to order.
func (f *acmeFlags) orders(dir engine.Dir) acme.Config {
	return acme.Config{Domains: f.ACMEDomain, Email: f.ACMEEmail, Directory: f.ACMEDirectory, Dir: dir.Certificates()}
}
