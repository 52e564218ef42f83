"""Tokens of younger services, each known by its prefix."""

from memman.model.secret_rule import Rule, token

# Examples are put together from two pieces so that no scanner takes this file for a leak.
_X = "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
_N = "zk3vq9tlw7rb2xy8nc5hd1pf6gj4ms0ua5tq"
_HEX = "3f9a1c7e5b2d8046af13c95e7b0d2846"
_UUID = "3f9a1c7e-5b2d-8046-af13-c95e7b0d2846"
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
PREFIXES: tuple[Rule, ...] = (
    # clouds and networks
    token("aws-session-token", "fwog iqoj fqog", r"(?:FwoG|IQoJ|FQoG)[A-Za-z0-9+/=]{80,200}", "FwoG" + _X * 3, "FwoGx"),
    token("google-api-key", "aq.", r"AQ\.[\w-]{40,200}", "AQ." + _X + _X[:14], "FAQ.md"),
    token("google-refresh-token", "1//0", r"1//0[\w-]{40,200}", "1//0" + _X + _X, "1//0x"),
    token("tailscale-key", "tskey-", r"tskey-[a-z]{3,12}-[A-Za-z0-9]{6,24}-[A-Za-z0-9]{16,64}", "tskey-auth-" + _X[:12] + "-" + _X[:32], "tskey-auth-x"),
    token("neon-key", "napi_ npg_", r"(?:napi_[a-z0-9]{40,100}|npg_(?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{12,24})", "napi_" + _N + _N[:28], "npg_dump"),
    token("aiven-password", "avns_", r"AVNS_[\w-]{16,40}", "AVNS_" + _X[:19], "AVNS_x"),
    token("mongodb-service-key", "mdb_sa_sk_", r"mdb_sa_sk_[\w-]{32,60}", "mdb_sa_sk_" + _X, "mdb_sa_sk_x"),
    token("exoscale-key", "exo", r"EXO[0-9a-f]{24}", "EXO" + _HEX[:24], "EXOTIC"),
    token("render-key", "rnd_", r"rnd_[A-Za-z0-9]{24,60}", "rnd_" + _X[:28], "rnd_seed"),
    token("vercel-key", "vcp_ vck_ vci_ vca_ vcr_", r"vc[pkiar]_[A-Za-z0-9]{24,80}", "vcp_" + _X, "vcp_x"),
    token("deno-token", "ddp_ ddw_ ddo_", r"dd[pwo]_[A-Za-z0-9]{32,40}", "ddp_" + _X, "ddp_x"),
    token("xata-key", "xau_", r"xau_[A-Za-z0-9]{36,80}", "xau_" + _X, "xau_x"),
    # source code, packages and builds
    token("buildkite-token", "bkua_", r"bkua_[0-9a-f]{40}", "bkua_" + _HEX + _HEX[:8], "bkua_x"),
    token("circleci-token", "ccipat_ cciprj_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}", "CCIPAT_" + _X[:22] + "_" + _HEX + _HEX[:8], "CCIPAT_x"),
    token("bitbucket-token", "atbb", r"ATBB[A-Za-z0-9]{28,60}", "ATBB" + _X + "3F9A", "ATBBx"),
    token("nuget-key", "oy2", r"oy2(?=[a-z]{0,42}\d)[a-z0-9]{43}", "oy2" + _N + _N[:7], "toy2"),
    token("jsr-token", "jsrp_", r"jsrp_[A-Za-z0-9]{32,40}", "jsrp_" + _X, "jsrp_x"),
    token("crates-token", "cio", r"cio(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}", "cio" + _X[:32], "cio"),
    token("expo-token", "expo_", r"expo_(?=[A-Za-z_-]{0,39}\d)[\w-]{40}", "expo_" + _X + "aB1c", "expo_secure_store"),
    token("infisical-token", "st.", r"st\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}", "st." + _UUID + "." + _HEX + "." + _HEX, "st.x"),
    # models
    token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_pt_" + _HEX + "_" + _HEX[:10], "lsv2_x"),
    token("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,80}", "pcsk_" + _X[:6] + "_" + _X + _X[:24], "pcsk_x"),
    token("fireworks-key", "fw_", r"fw_(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{22,28}", "fw_" + _X[:24], "fw_version"),
    token("together-key", "tgp_v1_", r"tgp_v1_[\w-]{40,80}", "tgp_v1_" + _X + _X[:7], "tgp_v1_x"),
    token("elevenlabs-key", "sk_", r"sk_[0-9a-f]{48}", "sk_" + _HEX + _HEX[:16], "sk_buff"),
    token("wandb-key", "wandb_v1_", r"wandb_v1_\w{60,120}", "wandb_v1_" + _X + _X, "wandb_v1_x"),
    token("cerebras-key", "csk-", r"csk-[a-z0-9]{48}", "csk-" + _N + _N[:12], "csk-x"),
    token("runpod-key", "rpa_", r"rpa_[A-Z0-9]{40,50}", "rpa_" + _N.upper() + "3F9A1C", "rpa_bot"),
    token("jina-key", "jina_", r"jina_[\w-]{48,70}", "jina_" + _X + _X[:24], "jina_embeddings"),
    token("firecrawl-key", "fc-", r"fc-[0-9a-f]{32}", "fc-" + _HEX, "rfc-2119"),
    token("e2b-key", "e2b_", r"e2b_[0-9a-f]{40}", "e2b_" + _HEX + _HEX[:8], "e2b_sandbox"),
    token("apify-token", "apify_api_", r"apify_api_[A-Za-z0-9]{36,40}", "apify_api_" + _X, "apify_api_x"),
    # mail, money and customers
    token("resend-key", "re_", r"re_[A-Za-z0-9]{6,10}_(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{20,32}", "re_" + _X[:8] + "_" + _X[:24], "re_export_everything"),
    token("mailersend-key", "mlsn.", r"mlsn\.[0-9a-f]{64}", "mlsn." + _HEX + _HEX, "mlsn.x"),
    token("hubspot-token", "pat-", r"pat-(?:na|eu|ap)\d-" + _ID, "pat-na1-" + _UUID, "pat-na1-x"),
    token("highlevel-token", "pit-", r"pit-" + _ID, "pit-" + _UUID, "pit-stop"),
    token("clickup-token", "pk_", r"pk_\d{6,10}_[A-Z0-9]{32}", "pk_" + "83623610_" + _N[:32].upper(), "pk_orders"),
    token("figma-token", "figd_ figo_ figu_", r"fig[dou]_[\w-]{36,60}", "figd_" + _X + "aB1c", "figd_x"),
    token("onesignal-key", "os_v2_", r"os_v2_(?:app|org)_[a-z0-9]{80,120}", "os_v2_app_" + _N * 2 + _N[:30], "os_v2_app"),
    token("razorpay-key", "rzp_live_ rzp_test_", r"rzp_(?:live|test)_[A-Za-z0-9]{14}", "rzp_live_" + _X[:14], "rzp_live_x"),
    token("mollie-key", "live_", r"live_(?=[a-z0-9]{0,29}[A-Z])(?=[A-Za-z]{0,29}\d)[A-Za-z0-9]{30}", "live_" + _X[:30], "live_reload"),
    token("paypal-token", "access_token$", r"access_token\$(?:production|sandbox)\$[A-Za-z0-9]{16}\$[0-9a-f]{32}", "access_token$production$" + _N[:16] + "$" + _HEX, "access_token$x"),
    token("adyen-key", "hmfx", r"AQ[\w]{1,4}hmfx[\w+/=*^-]{60,200}", "AQEkhmfx" + _X * 2, "AQhmfx"),
    # what watches
    token("posthog-key", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{40,60}", "phx_" + _X + _X[:7], "phx_router"),
    token("honeycomb-key", "hcaik_ hcbik_ hcxik_ hcamk_ hcxmk_", r"hc[abx][im]k_[a-z0-9]{32,60}", "hcaik_" + _N, "hcaik_x"),
    token("axiom-token", "xaat- xapt-", rf"xa[ap]t-{_ID}", "xaat-" + _UUID, "xaat-x"),
    token("logfire-token", "pylf_v", r"pylf_v\d_[a-z]{2,8}_[A-Za-z0-9]{36,60}", "pylf_v1_us_" + _X + _X[:7], "pylf_v1_us_x"),
    token("inngest-key", "signkey-", r"signkey-[a-z]{2,12}-[0-9a-f]{32,64}", "signkey-prod-" + _HEX + _HEX, "signkey-prod-x"),
    token("ory-token", "ory_at_ ory_rt_ ory_pat_", r"ory_(?:at|rt|pat)_[\w.-]{32,120}", "ory_at_" + _X, "ory_at_x"),
    token("kubernetes-bootstrap-token", "bootstrap kubeadm", r"(?=[a-z.]{0,22}\d)[a-z0-9]{6}\.[a-z0-9]{16}", "kubeadm join --token " + "k3vq9t.zk3vq9tlw7rb2xy8", "bootstrap config.controllermanager", 3.0),
)  # fmt: skip
