# A cache in front of `docmirror serve`, for Varnish 6 or later: varnishd -f /etc/varnish/docmirror.vcl.
# Names to change are marked by "yours". docs/serving.md says what may be cached, and why.
vcl 4.1;

backend default {
  .host = "127.0.0.1"; # yours
  .port = "8321";
  # A reply takes up to 15 s.
  .first_byte_timeout = 30s;
  .probe = { .url = "/readyz"; .interval = 5s; }
}

sub vcl_recv {
  # docmirror reads no cookies and no login. A login that you put in front belongs before this cache.
  unset req.http.Cookie;
}

sub vcl_backend_response {
  # max-age and stale-while-revalidate of the reply are ttl and grace already. A reply that is older than both is asked for by
  # its ETag, and costs no body where it is still right.
  if (beresp.ttl > 0s) {
    set beresp.keep = 1h;
  }
}

sub vcl_deliver {
  if (obj.hits > 0) {
    set resp.http.X-Cache = "HIT";
  } else {
    set resp.http.X-Cache = "MISS";
  }
}
