"""What runs inside the agent's turn. May import apsw and little else; a test pins the exact modules."""
